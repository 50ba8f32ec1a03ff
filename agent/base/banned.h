/*
 * banned - calls that have hurt everyone; forced into every file by the build.
 *
 * The headers that declare them come first, so that the macros below meet only calls.
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(f) use_of_##f##_is_banned_see_agent_base_banned_h

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#define strcpy(...)    BANNED(strcpy)
#define strcat(...)    BANNED(strcat)
#define strncpy(...)   BANNED(strncpy)
#define strncat(...)   BANNED(strncat)
#define sprintf(...)   BANNED(sprintf)
#define vsprintf(...)  BANNED(vsprintf)
#define strtok(...)    BANNED(strtok)
#define atoi(...)      BANNED(atoi)
#define atol(...)      BANNED(atol)
#define atof(...)      BANNED(atof)
#define gmtime(...)    BANNED(gmtime)
#define localtime(...) BANNED(localtime)
#define ctime(...)     BANNED(ctime)
#define mktemp(...)    BANNED(mktemp)
#define tmpnam(...)    BANNED(tmpnam)
#define system(...)    BANNED(system)
#define popen(...)     BANNED(popen)
#define gets(...)      BANNED(gets)
#define readdir_r(...) BANNED(readdir_r)
#define rand(...)      BANNED(rand)
