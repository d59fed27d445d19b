/* windows.h without its macros min and max, and without its rarely used parts. */
#ifndef FASTSEL_WINDOWS_API_H
#define FASTSEL_WINDOWS_API_H

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#endif
