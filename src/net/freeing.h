// SPDX-License-Identifier: Apache-2.0
// Freeing: lets a smart pointer give back what a C library made.
#pragma once

namespace berth::net {

// E.g. std::unique_ptr<X509, Freeing<X509_free>>.
template <auto free_function>
struct Freeing {
  template <class T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};

}  // namespace berth::net
