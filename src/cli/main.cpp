#include "app.hpp"

int main(int argc, char** argv) { return cnc::cli::run(argc, argv); }
