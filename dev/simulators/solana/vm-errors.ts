// The VM's errors in the words of a node's JSON. The VM counts them; these are their names, in its
// order (litesvm 1.5.0, as in the solana-transaction-error and solana-instruction-error crates).

import type { FailedTransactionMetadata } from 'litesvm';

/** `"BlockhashNotFound"`, `{ InstructionError: [0, { Custom: 6 }] }` and so on. */
export type ErrorJson = string | { readonly [name: string]: unknown };

const transactionErrors = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'MaxLoadedAccountsDataSizeExceeded',
  'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
];

const instructionErrors = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
  'BorshIoError',
];

export function errorJson(failed: FailedTransactionMetadata): ErrorJson {
  const error = failed.err();
  if (typeof error === 'number') return transactionErrors[error] ?? `Unknown${error}`;
  if ('err' in error) return { InstructionError: [error.index, innerJson(error.err())] };
  if ('index' in error) return { DuplicateInstruction: error.index };
  const name = failed.toString().includes('Rent')
    ? 'InsufficientFundsForRent'
    : 'ProgramExecutionTemporarilyRestricted';
  return { [name]: { account_index: error.accountIndex } };
}

function innerJson(inner: number | { code: number } | { msg: string }): ErrorJson {
  if (typeof inner === 'number') return instructionErrors[inner] ?? `Unknown${inner}`;
  return 'code' in inner ? { Custom: inner.code } : 'BorshIoError';
}

/** As a node words it in a refusal of `sendTransaction`. */
export function errorWords(error: ErrorJson): string {
  if (typeof error === 'string') return transactionWords[error] ?? error;
  const [index, inner] = (error.InstructionError as [number, ErrorJson] | undefined) ?? [];
  if (inner === undefined) return JSON.stringify(error);
  const what =
    typeof inner === 'string'
      ? inner
      : `custom program error: 0x${Number(inner.Custom).toString(16)}`;
  return `Error processing Instruction ${index}: ${what}`;
}

const transactionWords: Readonly<Record<string, string>> = {
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  SignatureFailure: 'Transaction signature verification failure',
};
