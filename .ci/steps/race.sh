thread_sanitizer || { left_out "this gcc has no ThreadSanitizer"; exit 0; }
under_thread_sanitizer race
run_tests "$tests/core/"test_{threads,gil,written_meanwhile}.py
