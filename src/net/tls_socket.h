// SPDX-License-Identifier: Apache-2.0
// The BIO that OpenSSL reads a socket through.
#pragma once

// OpenSSL's BIO; only those who use it need know more.
struct bio_st;

namespace berth::net {

// Writes raise no SIGPIPE when the peer has gone; those of OpenSSL's own do. It reads ahead: many small records come
// with one system call, and are handed on one by one. OpenSSL's own way of reading ahead moves all that it has got to
// the front of its buffer for almost every record. `keeps_buffer`: also while nothing is there, for a few connections
// that are busy. Does not own `fd`. Null: no memory.
bio_st* NewSocketBio(int fd, bool keeps_buffer);

// REQUIRES, of both: made by NewSocketBio.
int DescriptorOf(bio_st* bio);
// Whoever is told by it to wait does, until there is something to read: a read that has emptied the socket need not ask
// the system to be told so.
void BioWaitsWhenTold(bio_st* bio);

}  // namespace berth::net
