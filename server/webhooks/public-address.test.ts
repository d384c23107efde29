import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { reachable } from './public-address.ts';

const open = reachable([]);

test('addresses of the public internet are reached', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '169.253.1.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80e::200e',
    '2001:4860:4860::8888',
    '2606:4700::5eff:7f00:1',
    '2606:4700:0:0:1:5efe:7f00:1',
  ]) {
    assert.equal(open(address), true, address);
  }
});

test('no inside address is, however it is wrapped', () => {
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1', // IPv4-compatible
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8', // nothing needs it, so nothing has it
    '::ffff:0:127.0.0.1', // translated
    '64:ff9b::127.0.0.1', // NAT64
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1', // local NAT64
    '100::1', // discard
    '2001::1', // Teredo
    '2001:0:53aa:64c:0:7b27:80ff:fffe',
    '2001:db8::1',
    '2002:7f00:1::', // 6to4 of 127.0.0.1
    'fc00::1',
    'fd00:ec2::254', // AWS metadata
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'fe80::1%eth0',
    '2606:4700:4700::1111%eth0', // a zone makes any address one of this machine
    '8.8.8.8%eth0',
    '2606:4700::5efe:7f00:1', // ISATAP
    '2606:4700::200:5efe:10.0.0.1',
    '2606:4700::300:5efe:a00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '64:ff9b:1:ffff::7f00:1',
    '2001:20::1', // ORCHID
    '2001:2::1', // benchmarks
    '3fff::1', // documentation
    '5f00::1', // segment routing
    '4000::1', // given to nobody
    'ff0e::1', // multicast
    '192.88.99.1', // 6to4 relays
    '192.0.2.1', // documentation
    '192.31.196.1', // AS112
    '192.175.48.1',
    '192.52.193.1', // AMT
    '2620:4f:8000::1',
    '240.0.0.1',
    '169.254.170.2', // a container's metadata
    '100.100.100.200', // metadata, in the carriers' range
    'localhost',
    '127.1',
    '0x7f000001',
    '',
  ]) {
    assert.equal(open(address), false, address);
  }
});

test('a network that the operator lists is reached, and nothing beside it', () => {
  const own = reachable(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  for (const address of [
    '10.1.2.3',
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:1',
    'fd12::1',
  ]) {
    assert.equal(own(address), true, address);
  }
  for (const address of [
    '10.2.0.1',
    '127.0.0.2',
    '192.168.0.1',
    'fe80::1',
    '::1',
    'fd12::1%eth0',
    '::ffff:10.2.0.1',
  ]) {
    assert.equal(own(address), false, address);
  }
});

test('whatever is asked about, nothing outside 2000::/3 and public IPv4 is reached', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      if (!open(address)) return;
      const [first = ''] = address.split(/[.:]/);
      if (address.includes(':')) assert.match(first, /^[23][0-9a-f]{3}$/i);
      else
        assert.ok(Number(first) > 0 && Number(first) < 224 && ![10, 127].includes(Number(first)));
    }),
  );
});
