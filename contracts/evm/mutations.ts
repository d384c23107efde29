// Breaks one guard after the other in a copy of the contracts and sees a forge test fail.
// A mutation that no test notices is printed, and the exit status is 1.
//
//   node contracts/evm/mutations.ts [part of a name]     about 5 s for each mutation

import { isEntry } from './entry.ts';
import { type Mutation, tryMutations } from './mutate.ts';

const factory = (find: string, put: string): Mutation => ({
  file: 'src/ParleyFactory.sol',
  find,
  put,
});
const escrow = (find: string, put: string): Mutation => ({
  file: 'src/ParleyEscrow.sol',
  find,
  put,
});
const erc20 = (find: string, put: string): Mutation => ({ file: 'src/Erc20.sol', find, put });

export const MUTATIONS: Record<string, Mutation> = {
  'anyone may fund': factory('if (msg.sender != refund)', 'if (false)'),
  'zero hashlock': factory('if (terms.hashlock == 0)', 'if (false)'),
  'zero amount': factory('if (amount == 0)', 'if (false)'),
  'zero payout': factory('payout == address(0) || ', ''),
  'payout is the token': factory(' || payout == token', ''),
  'payout is the factory': factory(' || payout == address(this)', ''),
  'no timelock bounds': factory('_requireTimelock(terms.timelock);', ''),
  'timelock one second early': factory('timelock < earliest', 'timelock + 1 < earliest'),
  'timelock excludes the earliest': factory('timelock < earliest', 'timelock <= earliest'),
  'timelock one second late': factory('timelock > latest', 'timelock > latest + 1'),
  'timelock excludes the latest': factory('timelock > latest', 'timelock >= latest'),
  'native value unchecked': factory('if (msg.value != amount)', 'if (false)'),
  'native value at least': factory('if (msg.value != amount)', 'if (msg.value < amount)'),
  'token takes native value': factory('if (msg.value != 0)', 'if (false)'),
  'token without code': factory('if (token.code.length == 0)', 'if (false)'),
  'gain unchecked': factory('if (held < before || held - before != amount)', 'if (false)'),
  'gain may be less': factory('held - before != amount', 'held - before > amount'),
  'gain may be more': factory('held - before != amount', 'held - before < amount'),
  'gain wraps around': factory('held < before || ', ''),
  'balance, not gain': factory('held - before != amount', 'held != amount'),
  'no event': factory('if escrow { log3', 'if 0 { log3'),
  'event of another hashlock': factory('calldataload(terms)) }', 'salt) }'),
  'collision unnoticed': factory('if (escrow == address(0)) revert', 'if (false) revert'),
  'salt without the timelock': factory('keccak256(m, 0xc0)', 'keccak256(m, 0xa0)'),
  'native value kept back': factory('_createAndLog(terms, amount)', '_createAndLog(terms, 0)'),
  'escrowOf accepts dirty words': factory(
    'return _predict(keccak256(abi.encode(terms)));',
    'bytes memory raw = msg.data[4:196]; terms; return _predict(keccak256(raw));',
  ),
  'any terms': escrow('if (derived != address(this))', 'if (false)'),
  'another factory': escrow('msg.sender, bytes11(0)', 'address(this), bytes11(0)'),
  'claim ever': escrow('if (block.timestamp >= terms.timelock)', 'if (false)'),
  'claim in the timelock second': escrow('block.timestamp >= terms', 'block.timestamp > terms'),
  'claim a second less': escrow('block.timestamp >= terms', 'block.timestamp + 1 >= terms'),
  'no answer for a hash': escrow('iszero(and(ok, eq(returndatasize(), 0x20)))', 'iszero(ok)'),
  'part of an answer for a hash': escrow('eq(returndatasize(), 0x20)', 'gt(returndatasize(), 0)'),
  'more than an answer for a hash': escrow(
    'eq(returndatasize(), 0x20)',
    'gt(returndatasize(), 31)',
  ),
  'a failure for a hash': escrow(
    'iszero(and(ok, eq(returndatasize(), 0x20)))',
    'iszero(eq(returndatasize(), 0x20))',
  ),
  'any secret': escrow('if (hash != terms.hashlock)', 'if (false)'),
  'claim of an empty native escrow': escrow(
    'uint256 balance = address(this).balance;\n            if (balance < amount)',
    'uint256 balance = address(this).balance;\n            if (false)',
  ),
  'claim of an empty token escrow': escrow(
    'uint256 balance = Erc20.balanceOf(token, address(this));\n            if (balance < amount)',
    'uint256 balance = Erc20.balanceOf(token, address(this));\n            if (false)',
  ),
  'claim pays the sender': escrow('_pay(terms.payout, amount)', '_pay(msg.sender, amount)'),
  'claim sweeps': escrow('_pay(terms.payout, amount)', '_pay(terms.payout, balance)'),
  'token claim pays the sender': escrow(
    'transfer(token, terms.payout',
    'transfer(token, msg.sender',
  ),
  'token claim sweeps': escrow(
    'terms.payout, amount);\n            uint',
    'terms.payout, balance);\n            uint',
  ),
  'loss unchecked': escrow('if (balance - left != amount)', 'if (false)'),
  'loss may be less': escrow('balance - left != amount', 'balance - left > amount'),
  'loss may be more': escrow('balance - left != amount', 'balance - left < amount'),
  'no claim event': escrow('emit EscrowClaimed(secret);', ''),
  'claim event of the hash': escrow('emit EscrowClaimed(secret);', 'emit EscrowClaimed(hash);'),
  'refund ever': escrow('if (block.timestamp < terms.timelock)', 'if (false)'),
  'refund a second early': escrow('block.timestamp < terms', 'block.timestamp + 1 < terms'),
  'refund a second late': escrow('block.timestamp < terms', 'block.timestamp <= terms'),
  'refund of an empty native escrow': escrow(
    'address(this).balance;\n            if (balance == 0)',
    'address(this).balance;\n            if (false)',
  ),
  'refund of an empty token escrow': escrow(
    'balanceOf(token, address(this));\n            if (balance == 0)',
    'balanceOf(token, address(this));\n            if (false)',
  ),
  'refund pays the sender': escrow('_pay(terms.refund, balance)', '_pay(msg.sender, balance)'),
  'refund leaves the surplus': escrow(
    '_pay(terms.refund, balance)',
    '_pay(terms.refund, terms.amount)',
  ),
  'token refund pays the sender': escrow(
    'transfer(token, terms.refund',
    'transfer(token, msg.sender',
  ),
  'token refund leaves the surplus': escrow(
    'terms.refund, balance);\n        }\n        emit',
    'terms.refund, terms.amount);\n        }\n        emit',
  ),
  'no refund event': escrow('emit EscrowRefunded();', ''),
  'rejected payment unnoticed': escrow(
    'if (!ok) revert PaymentRejected',
    'if (false) revert PaymentRejected',
  ),
  'payment with 2300 gas': escrow('call(gas(), to, amount', 'call(2300, to, amount'),
  'payment copies the answer': escrow(
    'call(gas(), to, amount, 0, 0, 0, 0) // copies nothing of what comes back',
    'call(gas(), to, amount, 0, 0, 0, 0)\n returndatacopy(mload(0x40), 0, returndatasize())',
  ),
  'payable claim': escrow('bytes32 secret) external {', 'bytes32 secret) external payable {'),
  'payable refund': escrow(
    'refund(Terms calldata terms) external {',
    'refund(Terms calldata terms) external payable {',
  ),
  'short balance answer': erc20('ok := and(ok, gt(returndatasize(), 0x1f))', ''),
  'reverting balance': erc20('ok := and(ok, gt(returndatasize(), 0x1f))', 'ok := 1'),
  'reverting transfer unnoticed': erc20(
    'm, 0x44, 0, 0)\n        }\n        if (!ok)',
    'm, 0x44, 0, 0)\n        }\n        if (false)',
  ),
  'transfer needs true': erc20(
    'm, 0x44, 0, 0)',
    'm, 0x44, 0, 0x20)\n            ok := and(ok, and(eq(mload(0), 1), gt(returndatasize(), 31)))',
  ),
  'transferFrom needs true': erc20(
    'm, 0x64, 0, 0)',
    'm, 0x64, 0, 0x20)\n            ok := and(ok, and(eq(mload(0), 1), gt(returndatasize(), 31)))',
  ),
  'transfer copies the answer': erc20(
    'm, 0x44, 0, 0)',
    'm, 0x44, 0, 0)\n            returndatacopy(m, 0, returndatasize())',
  ),
  'transferFrom copies the answer': erc20(
    'm, 0x64, 0, 0)',
    'm, 0x64, 0, 0)\n            returndatacopy(m, 0, returndatasize())',
  ),
  'proxy swallows errors': {
    file: 'src/ProxyCode.sol',
    find: '5af46025573d5ffd5b',
    put: '5af46025573d5ff35b',
  },
  'proxy cuts errors': {
    file: 'src/ProxyCode.sol',
    find: '363d3d37363d363d73',
    put: '363d3d373d3d363d73',
  },
};

if (isEntry(import.meta.url)) {
  await tryMutations({
    folder: 'evm',
    artifact: 'artifacts/ParleyFactory.json',
    // the pinned addresses would notice anything, so they do not count
    ignore: ['--no-match-contract', 'PinnedTest'],
    mutations: MUTATIONS,
  });
}
