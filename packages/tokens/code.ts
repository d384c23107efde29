// The abilities in a contract's bytes, read opcode by opcode as the EVM does: an argument of PUSH
// is never taken for an opcode, nor bytes that nothing can run for code. Pure.

export type Scan = {
  /** Every constant of four bytes, in hex without `0x`: selectors answered and selectors called. */
  readonly selectors: ReadonlySet<string>;
  /** Every constant of twenty bytes, with `0x`. */
  readonly addresses: readonly string[];
  /** Runs other contracts' code as its own (DELEGATECALL, CALLCODE). */
  readonly delegates: boolean;
  /** Can take itself off the chain (SELFDESTRUCT), and so be put anew with other code. */
  readonly destroys: boolean;
  /** The one contract that it hands every call to, and can hand it to no other; null: none. */
  readonly only: string | null;
};

const op = {
  stop: 0x00,
  jump: 0x56,
  jumpdest: 0x5b,
  push1: 0x60,
  push32: 0x7f,
  callcode: 0xf2,
  return: 0xf3,
  delegatecall: 0xf4,
  revert: 0xfd,
  invalid: 0xfe,
  selfdestruct: 0xff,
} as const;

/** After these, code goes on at a JUMPDEST only. */
const ends: ReadonlySet<number> = new Set([
  op.stop,
  op.jump,
  op.return,
  op.revert,
  op.invalid,
  op.selfdestruct,
]);

/** All that a clone of one contract needs (EIP-1167, variants): any address is then a constant. */
const cloning: ReadonlySet<number> = new Set([
  op.stop,
  op.jump,
  op.jumpdest,
  op.return,
  op.revert,
  op.invalid,
  op.delegatecall,
  // CALLDATASIZE, CALLDATACOPY, RETURNDATASIZE, RETURNDATACOPY, POP, JUMPI, GAS, PUSH0
  0x36,
  0x37,
  0x3d,
  0x3e,
  0x50,
  0x57,
  0x5a,
  0x5f,
]);
const addressBytes = 20;
/** Shorter constants are sizes and places. */
const mostSizeBytes = 8;

function clones(opcode: number): boolean {
  const stack = opcode > op.push32 && opcode <= 0x9f;
  return cloning.has(opcode) || stack;
}

export function scanCode(code: string): Scan {
  const bytes = Buffer.from(code.slice(2), 'hex');
  const selectors = new Set<string>();
  const addresses = new Set<string>();
  const seen = new Set<number>();
  let clone = true;
  let runs = true;
  for (let at = 0; at < bytes.length; at += 1) {
    const opcode = bytes[at] ?? op.stop;
    if (opcode === op.jumpdest) runs = true;
    const size = opcode >= op.push1 && opcode <= op.push32 ? opcode - op.push1 + 1 : 0;
    if (runs) {
      seen.add(opcode);
      clone &&= size === addressBytes || (size > 0 && size <= mostSizeBytes) || clones(opcode);
      // Behind the last byte there are zeros.
      const constant = bytes.toString('hex', at + 1, at + 1 + size).padEnd(2 * size, '0');
      // A selector that begins with zeros is pushed without them.
      if (size === 3 || size === 4) selectors.add(constant.padStart(8, '0'));
      if (size === addressBytes) addresses.add(`0x${constant}`);
      if (ends.has(opcode)) runs = false;
    }
    at += size;
  }
  const [first = null, ...others] = addresses;
  const delegates = seen.has(op.delegatecall) || seen.has(op.callcode);
  return {
    selectors,
    addresses: [...addresses],
    delegates,
    destroys: seen.has(op.selfdestruct),
    only: clone && delegates && others.length === 0 ? first : null,
  };
}
