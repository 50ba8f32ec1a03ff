# agent-folder: agent/dist in the build folder, the agent with its own C library (see folder.sh);
# its archives also lie in bin, beside stoika, which looks for them there.
#
# A second link of the same objects: libraries static except libc, which dlopen (for NVML) needs.
# The search path is the old RPATH, not RUNPATH: only that one also serves what a dlopened library
# asks for, which would otherwise be the node's C library beside ours. $ORIGIN needs /proc, the
# prefix does not.
# No build id: it would name the build folder, by way of the debug information.
set(AGENT_PREFIX /opt/stoika/agent)
set(dist ${CMAKE_CURRENT_BINARY_DIR}/dist)
set(bin ${CMAKE_BINARY_DIR}/bin)
set(archives_beside ${CMAKE_COMMAND} -E copy ${dist}/stoika-agent.tar.zst
	${dist}/stoika-agent.tar.gz ${bin}/)

if(STOIKA_SANITIZE OR STOIKA_TSAN OR STOIKA_FUZZ)
	# The packaged program is never an instrumented one: a plain build inside this one makes it.
	set(plain ${CMAKE_BINARY_DIR}/plain)
	add_custom_target(agent-folder
		COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${plain} -G ${CMAKE_GENERATOR}
			-DCMAKE_BUILD_TYPE=RelWithDebInfo
		COMMAND ${CMAKE_COMMAND} --build ${plain} --target agent-folder
		COMMAND ${CMAKE_COMMAND} -E rm -rf ${dist}
		COMMAND ${CMAKE_COMMAND} -E copy_directory ${plain}/agent/dist ${dist}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${bin}
		COMMAND ${archives_beside}
		VERBATIM)
	return()
endif()

set(archives)
foreach(name curl ssl archive zstd z jansson yaml crypto)
	find_library(static_${name} NAMES lib${name}.a)
	if(NOT static_${name})
		message(STATUS "no lib${name}.a: the target agent-folder is left out")
		return()
	endif()
	list(APPEND archives ${static_${name}})
endforeach()

set(rooms)
foreach(room trial bundle unpack run step fetcher fetch evidence facts wire recipe base)
	if(TARGET ${room})
		list(APPEND rooms $<TARGET_FILE:${room}>)
		list(APPEND room_targets ${room})
	endif()
endforeach()

# libcurl.a also calls what speaks LDAP, SFTP, HTTP/2 ...; see fetch/absent.c, where it all leads.
execute_process(COMMAND ${CMAKE_NM} -u ${static_curl} OUTPUT_VARIABLE undefined ERROR_QUIET)
string(REGEX MATCHALL
	"(nghttp2|libssh2|ldap|ber|gss|GSS|RTMP|psl|idn2|Brotli)[A-Za-z0-9]*_[A-Za-z0-9_]+|Brotli[A-Za-z]+"
	undefined "${undefined}")
list(REMOVE_DUPLICATES undefined)
list(SORT undefined)
set(absent)
foreach(name ${undefined})
	list(APPEND absent -Wl,--defsym=${name}=fetch_absent)
endforeach()
add_library(fetch_absent OBJECT fetch/absent.c)

set(packaged ${CMAKE_CURRENT_BINARY_DIR}/stoika-agent.packaged)
add_custom_command(OUTPUT ${packaged}
	COMMAND ${CMAKE_C_COMPILER} -pie -o ${packaged} $<TARGET_OBJECTS:stoika-agent>
		$<TARGET_OBJECTS:fetch_absent> ${absent}
		-Wl,--start-group ${rooms} -Wl,--end-group ${archives} -Wl,--as-needed -lm
		-Wl,--gc-sections,--build-id=none -Wl,-z,relro,-z,now,-z,noexecstack,-z,pack-relative-relocs
		-Wl,--dynamic-linker=${AGENT_PREFIX}/lib/ld-linux-x86-64.so.2
		-Wl,--disable-new-dtags "-Wl,-rpath,$ORIGIN/../lib:${AGENT_PREFIX}/lib"
	DEPENDS $<TARGET_OBJECTS:stoika-agent> $<TARGET_OBJECTS:fetch_absent> ${room_targets}
	COMMAND_EXPAND_LISTS VERBATIM COMMENT "Linking the agent for nodes")
add_custom_command(OUTPUT ${dist}/stoika-agent.tar.zst
	COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/folder.sh ${packaged} ${dist} ${PROJECT_VERSION}
	COMMAND ${CMAKE_COMMAND} -E make_directory ${bin}
	COMMAND ${archives_beside}
	DEPENDS ${packaged} folder.sh VERBATIM COMMENT "Packing the agent's folder")
add_custom_target(agent-folder DEPENDS ${dist}/stoika-agent.tar.zst)
