// Which texts are read as a database's URL. The driver would show pieces of the others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrlFault } from './database-url.ts';

test('a URL in which a password ends the authority is refused, and the usual forms are not', () => {
  for (const good of [
    'postgres://me:k3ep@127.0.0.1:5432/x',
    'postgresql://me@db/x?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    'postgres://me:k3ep@/x?host=/var/run/postgresql',
    'postgres://me:a:b@[::1]/x',
    'postgres://%2Fvar%2Frun/x',
  ]) {
    assert.equal(databaseUrlFault(good), null, good);
  }
  for (const wrong of [
    'postgres://me:12#k3ep@db/x',
    'postgres://me:12/k3ep@db/x',
    'postgres://me:12?k3ep@db/x',
    'postgres://me:k3ep/12@db/x',
    'postgres://me:x@k3ep/y@db/x',
    'postgres://me:x@k3ep?a=12&b=c@db/x',
    'postgres://me:k3ep%@db/x',
    'postgres://me:k3ep%ff@db/x',
    'postgres://me@db:k3ep/x',
    'postgres:me:k3ep@db/x',
    '"postgres://me:k3ep@db/x"',
    'host=db user=me password=k3ep',
    'jdbc:postgresql://db/x?password=k3ep',
    'postgresql+asyncpg://me:k3ep@db/x',
    '/var/run/postgresql k3ep',
    'postgres://me:k3ep@one.invalid,two.invalid/x',
    'postgres://me:k3ep@db/x?sslmode=on',
  ]) {
    const fault = databaseUrlFault(wrong);
    assert.match(fault ?? '', /^it(s sslmode)? must be /, wrong);
    assert.ok(!fault?.includes('k3ep'), wrong);
  }
});
