# Turns a script into a C array: cmake -DIN=FILE -DOUT=FILE -DNAME=NAME -P embed.cmake
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n\t" bytes "${bytes}")
file(WRITE ${OUT} "/* Made by embed.cmake from a script - do not edit. */\n#include \"controller/fleet/install_priv.h\"\n\nconst char ${NAME}[] = {\n\t${bytes}0};\n")
