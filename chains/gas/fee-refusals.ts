// What nodes of EVM chains say of a fee that is too low for them to take the transaction at all.

const tooCheap = /underpriced|base ?fee|fee(cap)? (is )?too low/i;

/** Whether a refusal is for the fee: no pool holds it, so waiting at that fee is of no use. */
export function saysFeeTooLow(message: string): boolean {
  return tooCheap.test(message);
}
