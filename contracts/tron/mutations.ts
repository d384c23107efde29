// Breaks one guard after the other in a copy of the contract and sees a forge test fail.
// A mutation that no test notices is printed, and the exit status is 1.
//
//   node contracts/tron/mutations.ts [part of a name]     about 5 s for each mutation

import { isEntry } from '../evm/entry.ts';
import { type Mutation, tryMutations } from '../evm/mutate.ts';

const broken = (find: string, put: string): Mutation => ({
  file: 'src/ParleyEscrows.sol',
  find,
  put,
});

/** A warning is an error, so what is computed must be used. */
const ID_USED = 'if (id == 0) revert ZeroAmount();';

export const MUTATIONS: Record<string, Mutation> = {
  'anyone may fund': broken('if (msg.sender != refundTo)', 'if (false)'),
  'zero hashlock': broken('if (terms.hashlock == 0)', 'if (false)'),
  'zero amount': broken('if (amount == 0)', 'if (false)'),
  'zero payout': broken('payout == address(0) || ', ''),
  'payout is the token': broken(' || payout == token', ''),
  'payout is the contract': broken(' || payout == address(this)', ''),
  'no timelock bounds': broken('_requireTimelock(terms.timelock);', ''),
  'timelock one second early': broken('timelock < earliest', 'timelock + 1 < earliest'),
  'timelock excludes the earliest': broken('timelock < earliest', 'timelock <= earliest'),
  'timelock one second late': broken('timelock > latest', 'timelock > latest + 1'),
  'timelock excludes the latest': broken('timelock > latest', 'timelock >= latest'),
  'value unchecked': broken('if (msg.value != expected)', 'if (false)'),
  'value at least': broken('if (msg.value != expected)', 'if (msg.value < expected)'),
  'value at most': broken('if (msg.value != expected)', 'if (msg.value > expected)'),
  'token without code': broken('&& token.code.length == 0)', '&& false)'),
  'no funding event': broken('_logFunding(id, terms);\n        if', `${ID_USED}\n        if`),
  'funding event without the timelock': broken('log3(m, 0xc0,', 'log3(m, 0xa0,'),
  'nothing collected': broken('if (token != address(0)) _collect', 'if (false) _collect'),
  'funded twice': broken('if (record.word != 0)', 'if (false)'),
  'funded again after the end': broken(
    'if (record.word != 0)',
    'if (_factsIn(record, id) & 0xff == FUNDED)',
  ),
  'funding not recorded': broken(
    '_write(record, id, block.number << 8 | FUNDED);',
    '_write(record, 0, 1);',
  ),
  'funding without its block': broken('block.number << 8 | FUNDED', 'FUNDED'),
  'gain unchecked': broken('if (held < before || held - before != amount)', 'if (false)'),
  'gain may be less': broken('held - before != amount', 'held - before > amount'),
  'gain may be more': broken('held - before != amount', 'held - before < amount'),
  'gain wraps around': broken('held < before || ', ''),
  'balance, not gain': broken('held - before != amount', 'held != amount'),
  'funding within a funding': broken(
    'if (_tokenFundings != fundings) revert FundedWithin(token);\n            if',
    'if',
  ),
  'funding within a payment': broken(
    'if (_tokenFundings != fundings) revert FundedWithin(token);\n    }',
    'if (_tokenFundings < fundings) revert FundedWithin(token);\n    }',
  ),
  'fundings are not counted': broken('_tokenFundings = fundings + 1;', '{}'),
  'fundings by a signer with code are not counted': broken(
    'msg.sender != tx.origin || msg.sender.code.length != 0',
    'msg.sender != tx.origin',
  ),
  'fundings by who has no code yet are not counted': broken(
    'msg.sender != tx.origin || msg.sender.code.length != 0',
    'msg.sender.code.length != 0',
  ),
  'claim ever': broken('if (block.timestamp >= terms.timelock)', 'if (false)'),
  'claim in the timelock second': broken('block.timestamp >= terms', 'block.timestamp > terms'),
  'claim a second less': broken('block.timestamp >= terms', 'block.timestamp + 1 >= terms'),
  'no answer for a hash': broken('iszero(and(ok, eq(returndatasize(), 0x20)))', 'iszero(ok)'),
  'part of an answer for a hash': broken('eq(returndatasize(), 0x20)', 'gt(returndatasize(), 0)'),
  'more than an answer for a hash': broken(
    'eq(returndatasize(), 0x20)',
    'gt(returndatasize(), 31)',
  ),
  'a failure for a hash': broken(
    'iszero(and(ok, eq(returndatasize(), 0x20)))',
    'iszero(eq(returndatasize(), 0x20))',
  ),
  'any secret': broken('if (hash != terms.hashlock)', 'if (false)'),
  'claim without funding': broken('if (facts & 0xff != FUNDED)', 'if (false)'),
  'claim of what was never funded': broken(
    'if (facts & 0xff != FUNDED)',
    'if (facts & 0xff > FUNDED)',
  ),
  'settled again': broken('if (facts & 0xff != FUNDED)', 'if (facts == 0)'),
  'settling not recorded': broken(
    '_write(record, id, block.number << 48 | (facts ^ FUNDED) | status);',
    '_write(record, 0, status);',
  ),
  'settling clears the record': broken(
    'block.number << 48 | (facts ^ FUNDED) | status',
    'status - status',
  ),
  'settling without its block': broken('block.number << 48 | (facts', '(facts'),
  'settling forgets the funding': broken('(facts ^ FUNDED) | status', 'status'),
  'any record': broken('if (facts > FACTS) facts = 0;', 'facts &= FACTS;'),
  'record without its id': broken('(uint256(id) & ~FACTS) | facts', 'uint256(id) & 0 | facts'),
  'claim recorded as a refund': broken('_close(terms, CLAIMED)', '_close(terms, REFUNDED)'),
  'claim pays the sender': broken('_pay(terms, terms.payout', '_pay(terms, msg.sender'),
  'no claim event': broken('emit EscrowClaimed(id, secret);', ID_USED),
  'claim event of the hash': broken('EscrowClaimed(id, secret);\n', 'EscrowClaimed(id, hash);\n'),
  'claim may move less': broken(
    '_pay(terms, terms.payout, terms.amount, terms.amount)',
    '_pay(terms, terms.payout, terms.amount, 0)',
  ),
  'refund may move less': broken(
    '_refund(terms, terms.amount, terms.amount)',
    '_refund(terms, terms.amount, 0)',
  ),
  'a part may move nothing': broken('_refund(terms, part, 1)', '_refund(terms, part, 0)'),
  'anyone may choose a part': broken('if (msg.sender != terms.refund)', 'if (false)'),
  'a part of TRX': broken('terms.token == address(0) || part == 0', 'part == 0'),
  'an empty part': broken('part == 0 || ', ''),
  'a part above the amount': broken(' || part > terms.amount', ''),
  'refund ever': broken('if (block.timestamp < terms.timelock)', 'if (false)'),
  'refund a second early': broken('block.timestamp < terms', 'block.timestamp + 1 < terms'),
  'refund a second late': broken('block.timestamp < terms', 'block.timestamp <= terms'),
  'refund pays the sender': broken('_pay(terms, terms.refund', '_pay(terms, msg.sender'),
  'no refund event': broken('emit EscrowRefunded(id);', ID_USED),
  'rejected payment unnoticed': broken('if (!ok) revert Payment', 'if (false) revert Payment'),
  'payment with 2300 energy': broken('call(gas(), to, sent', 'call(2300, to, sent'),
  'payment copies the answer': broken(
    'call(gas(), to, sent, 0, 0, 0, 0)',
    'call(gas(), to, sent, 0, 0, 0, 0)\n returndatacopy(mload(0x40), 0, returndatasize())',
  ),
  'loss wraps around': broken('left > before || ', ''),
  'loss above the amount': broken(' || before - left > terms.amount', ''),
  'loss below the least': broken('before - left < least || ', 'least == 0 || '),
  'id without the timelock': broken('id := keccak256(m, 0xe0)', 'id := keccak256(m, 0xc0)'),
  'id without the place': broken(
    'bytes32 prefix = domain;',
    'bytes32 prefix = domain & bytes32(0);',
  ),
  'place without the contract': broken(
    'abi.encode(block.chainid, address(this))',
    'abi.encode(block.chainid)',
  ),
  'place without the chain': broken(
    'abi.encode(block.chainid, address(this))',
    'abi.encode(address(this))',
  ),
  'escrowOf of another formula': broken(
    'return keccak256(abi.encode(domain, terms));',
    'return domain ^ terms.hashlock;',
  ),
  'payable claim': broken('bytes32 secret) external {', 'bytes32 secret) external payable {'),
  'payable refund': broken(
    'refund(Terms calldata terms) external {',
    'refund(Terms calldata terms) external payable {',
  ),
};

if (isEntry(import.meta.url)) {
  await tryMutations({
    folder: 'tron',
    artifact: 'artifacts/ParleyEscrows.json',
    ignore: ['--no-match-test', 'test_the_code_is_the_pinned_one'],
    mutations: MUTATIONS,
  });
}
