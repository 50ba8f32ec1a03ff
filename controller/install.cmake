# cmake --install: the program and what it looks for beside itself, in the folders of a package.
#
#	bin/stoika                   share/stoika/{recipes,catalog,examples}
#	lib/stoika/stoika-agent*     share/man, share/bash-completion, lib/systemd/system
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/stoika)

install(TARGETS stoika RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS stoika-agent RUNTIME DESTINATION lib/stoika)
install(FILES ${PROJECT_BINARY_DIR}/bin/stoika-agent.tar.zst
	${PROJECT_BINARY_DIR}/bin/stoika-agent.tar.gz DESTINATION lib/stoika OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes/ DESTINATION ${data}/recipes)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/inventory/catalog/ DESTINATION ${data}/catalog
	FILES_MATCHING PATTERN "*.yaml" PATTERN "tests" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/inventory/examples/ DESTINATION ${data}/examples
	FILES_MATCHING PATTERN "*.yaml")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/stoika)

# What the program says of itself, by itself.
set(made ${CMAKE_CURRENT_BINARY_DIR}/made)
add_custom_command(OUTPUT ${made}/stoika.bash
	COMMAND ${CMAKE_COMMAND} -E make_directory ${made}/man1 ${made}/man7 ${made}/all
	COMMAND stoika manual --to ${made}/all
	COMMAND sh -c "cp '${made}'/all/*.1 '${made}/man1' && cp '${made}'/all/*.7 '${made}/man7'"
	COMMAND stoika completion bash > ${made}/stoika.bash
	DEPENDS stoika VERBATIM)
add_custom_target(said ALL DEPENDS ${made}/stoika.bash)
install(DIRECTORY ${made}/man1 ${made}/man7 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${made}/stoika.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
	RENAME stoika)

configure_file(serve/stoika.service stoika.service @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stoika.service DESTINATION lib/systemd/system)
