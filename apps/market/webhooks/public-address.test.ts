import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { reachable } from './public-address.ts';

const open = reachable([]);

function all(isReached: (address: string) => boolean, expected: boolean, addresses: string) {
  for (const address of addresses.split(' ')) {
    assert.equal(isReached(address), expected, address);
  }
}

test('addresses of the public internet are reached', () => {
  all(open, true, '1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.0 100.63.255.255');
  all(open, true, '100.128.0.0 169.253.1.1 2606:4700:4700::1111 2a00:1450:4001:80e::200e');
  all(open, true, '2001:4860:4860::8888 2606:4700::5eff:7f00:1 2606:4700:0:0:1:5efe:7f00:1');
});

for (const [what, addresses] of [
  ['this machine', '0.0.0.0 127.0.0.1 127.255.255.254 :: ::1'],
  ['a private network', '10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fec0::1'],
  ['the carriers’ range, with metadata', '100.64.0.1 100.100.100.200'],
  ['a link, with metadata', '169.254.169.254 169.254.170.2 fe80::1 fd00:ec2::254'],
  ['a protocol or a benchmark', '192.0.0.192 198.18.0.1 2001:2::1'],
  ['documentation', '192.0.2.1 198.51.100.7 203.0.113.9 2001:db8::1 3fff::1'],
  ['many', '224.0.0.1 255.255.255.255 240.0.0.1 ff02::1 ff0e::1'],
  ['compatible with IPv4', '::7f00:1'],
  // Receivers never need the public ones of these, so all are refused.
  ['mapped IPv4', '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 0:0:0:0:0:ffff:7f00:1'],
  ['translated IPv4', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:1:ffff::7f00:1'],
  ['Teredo', '2001::1 2001:0:53aa:64c:0:7b27:80ff:fffe'],
  ['6to4 and its relays', '2002:7f00:1:: 192.88.99.1'],
  ['ISATAP', '2606:4700::5efe:7f00:1 2606:4700::200:5efe:10.0.0.1 2606:4700::300:5efe:a00:1'],
  // A zone makes any address one of this machine.
  ['an address with a zone', 'fe80::1%eth0 2606:4700:4700::1111%eth0 8.8.8.8%eth0'],
  ['discarded, ORCHID, segment routing', '100::1 2001:20::1 5f00::1'],
  ['AS112 and AMT', '192.31.196.1 192.175.48.1 192.52.193.1 2620:4f:8000::1'],
  ['given to nobody', '4000::1'],
  ['no address', 'localhost 127.1 0x7f000001 '],
] as const) {
  test(`no inside address is reached, however it is wrapped: ${what}`, () => {
    all(open, false, addresses);
  });
}

test('a network that the operator lists is reached, and nothing beside it', () => {
  const own = reachable(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  all(own, true, '10.1.2.3 127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:7f00:1 fd12::1');
  all(own, false, '10.2.0.1 127.0.0.2 192.168.0.1 fe80::1 ::1 fd12::1%eth0 ::ffff:10.2.0.1');
});

test('no address outside 2000::/3 and public IPv4 is reached, whatever is asked about', () => {
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
