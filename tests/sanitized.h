// SPDX-License-Identifier: Apache-2.0
// Whether the sanitizers are in. They multiply time and memory: there, random tests do less of the
// same, and what is measured says nothing.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif
