// What breaks the names of escrows and what is read of them.

import { inEscrows, type Mutation } from '../mutate.ts';

export const names: Record<string, Mutation> = {
  'id without the counter': inEscrows(
    'id := keccak256(hashed, 0x140)',
    'id := keccak256(hashed, 0x120)',
  ),
  'id without the place': inEscrows(
    'bytes32 place = domain;\n        assembly ("memory-safe") {\n            hashed',
    'bytes32 place = domain & bytes32(0);\n        assembly ("memory-safe") {\n            hashed',
  ),
  'place without the contract': inEscrows(
    'abi.encode(block.chainid, address(this))',
    'abi.encode(block.chainid)',
  ),
  'place without the chain': inEscrows(
    'abi.encode(block.chainid, address(this))',
    'abi.encode(address(this))',
  ),
  'sha-256 is not asked for': inEscrows(
    'if (_sha256(0) != SHA256_OF_ZERO) revert Sha256Missing();',
    '',
  ),
  'any hash for sha-256': inEscrows('_sha256(0) != SHA256_OF_ZERO', '_sha256(0) == 0'),
  'one word for all lanes': inEscrows(
    'uint256(uint160(funder)) << 96 | lane;',
    'uint256(uint160(funder)) << 96 | lane & 0;',
  ),
  'one word for all funders': inEscrows(
    'uint256(uint160(funder)) << 96 | lane;',
    'uint256(uint160(funder)) << 96 & 0 | lane;',
  ),
  'escrowOf of another formula': inEscrows(
    'returns (bytes32)\n    {\n        return keccak256(abi.encode(domain, terms, lane, counter));',
    'returns (bytes32)\n    {\n        return keccak256(abi.encode(domain, terms, counter, lane));',
  ),
  'stateOf of another formula': inEscrows(
    'bytes32 id = keccak256(abi.encode(domain, terms, lane, counter));',
    'bytes32 id = keccak256(abi.encode(domain, terms, counter, lane));',
  ),
  'what was not funded reads as ended': inEscrows(
    'if (used < counter || counter == 0) return UNFUNDED;',
    'if (used < counter || counter == 0) return ENDED;',
  ),
  'counter zero reads as ended': inEscrows('used < counter || counter == 0', 'used < counter'),
  'what was written over reads as unfunded': inEscrows(
    'if (used > counter) return ENDED;',
    'if (used > counter) return UNFUNDED;',
  ),
  'a counter of others reads as mine': inEscrows(
    'if ((word ^ uint256(id)) & ID != 0) return VOID;',
    'if (id == 0) return VOID;',
  ),
  'a time of others': inEscrows(
    'if (state == OPEN || state == CLAIMED || state == REFUNDED) {',
    'if (true) {',
  ),
  'no time of what is open': inEscrows(
    'state == OPEN || state == CLAIMED || ',
    'state == CLAIMED || ',
  ),
  'no time of what was claimed': inEscrows(
    'state == CLAIMED || state == REFUNDED) {',
    'state == REFUNDED) {',
  ),
  'no time of what was refunded': inEscrows(
    ' || state == REFUNDED) {\n            changedAt',
    ') {\n            changedAt',
  ),
  'laneOf with a counter too long': inEscrows(
    'counter = word & COUNTER;',
    'counter = uint32(word);',
  ),
  'laneOf with a time too long': inEscrows(
    'changedAt = (word & TIME) >> TIME_SHIFT;\n        idStart',
    'changedAt = word >> TIME_SHIFT;\n        idStart',
  ),
  'laneOf with a state too long': inEscrows(
    'state = (word & STATE) >> STATE_SHIFT;\n        changedAt',
    'state = word >> STATE_SHIFT;\n        changedAt',
  ),
  'laneOf of another id': inEscrows(
    'idStart = bytes24(bytes32(word));',
    'idStart = bytes24(bytes32(word << 8));',
  ),
  'lanesOf the first alone': inEscrows(
    'words[i] = _lanes[keys[i]].word;',
    'words[i] = _lanes[keys[0]].word;',
  ),
};
