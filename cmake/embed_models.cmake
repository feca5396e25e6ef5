# Model files as C arrays: cmake -DOUTPUT=file.c -DFILES="a.yaml;b.yaml" -P embed_models.cmake
set(arrays "")
set(table "")
set(k 0)
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const char text_${k}[] = {${bytes}0};\n")
    string(APPEND table "    {\"${name}\", text_${k}},\n")
    math(EXPR k "${k} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Made from the model files. */
#include \"verify/model.h\"

${arrays}
const vf_model_file vf_model_files[] = {
${table}    {0, 0},
};
")
