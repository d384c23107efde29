// The decisions of a TRON network's committee, at the values of the main network (wallet/
// getchainparameters, 2026), and limits that java-tron has in its code. Sun where nothing is said.

export const parameters = {
  getMaintenanceTimeInterval: 21_600_000, // ms
  /** Burnt by a transfer to an address that was never used, beside getCreateAccountFee. */
  getCreateNewAccountFeeInSystemContract: 1_000_000,
  /** Burnt by the same transfer for bandwidth: free bandwidth does not pay for it. */
  getCreateAccountFee: 100_000,
  getTransactionFee: 1_000,
  getEnergyFee: 100,
  getFreeNetLimit: 600, // bytes an account a day
  getMemoFee: 1_000_000,
  getMaxFeeLimit: 15_000_000_000,
  getTotalEnergyLimit: 180_000_000_000,
  getTotalNetLimit: 43_200_000_000,
  getForbidTransferToContract: 1,
  getAllowTvmShangHai: 1,
  /** Transient storage and MCOPY. */
  getAllowTvmCancun: 1,
  getAllowHigherLimitForMaxCpuTimeOfOneTx: 1,
  getAllowOptimizedReturnValueOfChainId: 1,
} as const;

/** Constant.java: MAX_RESULT_SIZE_IN_TX, TRANSACTION_MAX_BYTE_SIZE, MAXIMUM_TIME_UNTIL_EXPIRATION,
 *  TRANSACTION_DEFAULT_EXPIRATION_TIME. */
export const resultBytes = 64;
export const transactionLimitBytes = 500 * 1024;
export const expirationLimitMs = 24 * 60 * 60 * 1_000;
export const defaultExpirationMs = 60_000;
/** Energy of a constant call: vm.maxEnergyLimitForConstant. */
export const constantEnergyLimit = 100_000_000n;
export const bandwidthWindowMs = 24 * 60 * 60 * 1_000;
