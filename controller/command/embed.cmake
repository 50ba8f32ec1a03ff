# Turns a text into a C array: cmake -DIN=FILE -DOUT=FILE -DNAME=NAME -DHEADER=FILE -P embed.cmake
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
file(WRITE ${OUT} "/* Made by embed.cmake - do not edit. */\n#include \"${HEADER}\"\n\nconst char ${NAME}[] = {\n\t${bytes}0};\n")
