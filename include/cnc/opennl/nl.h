/* Where programs for OpenNL look for it. */
#include <cnc/nl.h>
