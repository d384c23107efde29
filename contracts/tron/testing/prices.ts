// Where TVM prices differ from Istanbul's: java-tron EnergyCost.java, OperationRegistry.java.

/** Base energy by opcode. */
export const BASE_ENERGY: Readonly<Record<number, readonly [name: string, energy: number]>> = {
  49: ['BALANCE', 20],
  // The copies pay for memory and 3 a word, but nothing for themselves (getCallDataCopyCost).
  55: ['CALLDATACOPY', 0],
  57: ['CODECOPY', 0],
  59: ['EXTCODESIZE', 20],
  60: ['EXTCODECOPY', 20],
  62: ['RETURNDATACOPY', 0],
  63: ['EXTCODEHASH', 400],
  84: ['SLOAD', 50],
  85: ['SSTORE', 0],
  241: ['CALL', 40],
  242: ['CALLCODE', 40],
  244: ['DELEGATECALL', 40],
  250: ['STATICCALL', 40],
  // 32,000 (getCreateCost); repeated for who gets the energy that is left.
  240: ['CREATE', 32_000],
  245: ['CREATE2', 32_000],
};

/** BASEFEE: the price of energy in sun, as the public networks have it (getEnergyFee). */
export const ENERGY_FEE = 100n;

/** getBaseTierCost, getTLoadCost, getTStoreCost, getMCopyCost. */
export const LATER_ENERGY: Readonly<Record<number, readonly [name: string, energy: number]>> = {
  72: ['BASEFEE', 2],
  92: ['TLOAD', 100],
  93: ['TSTORE', 100],
  94: ['MCOPY', 3],
};

// 1 since allowHigherLimitForMaxCpuTimeOfOneTx (adjustMemOperations); 0 in java-tron's older tests.
export const MEMORY_OPERATIONS: Readonly<Record<number, string>> = {
  81: 'MLOAD',
  82: 'MSTORE',
  83: 'MSTORE8',
};

/** getSstoreCost: by what is there and what comes, however often in one transaction. */
export const SET_SSTORE = 20_000n;
export const RESET_SSTORE = 5_000n;

/** Program.java: MAX_DEPTH. */
export const MAX_CALL_DEPTH = 64;

export const EXP_BYTE_ENERGY = 10;
