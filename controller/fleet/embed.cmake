# Turns a script into a C array: cmake -DIN=FILE -DOUT=FILE -DNAME=NAME -DINSERT=FILE -P embed.cmake
# The text of INSERT takes the place of @INSERT@ in the script.
cmake_policy(VERSION 3.20) # else @INSERT@ is taken for a variable
file(READ ${IN} text)
file(READ ${INSERT} inserted)
string(STRIP "${inserted}" inserted)
string(REPLACE "@INSERT@" "${inserted}" text "${text}")
string(HEX "${text}" hex)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n\t" bytes "${bytes}")
file(WRITE ${OUT} "/* Made by embed.cmake from a script - do not edit. */\n#include \"controller/fleet/install_priv.h\"\n\nconst char ${NAME}[] = {\n\t${bytes}0};\n")
