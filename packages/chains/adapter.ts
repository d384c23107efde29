// The one interface every chain keeps: no database, no HTTP status, no key. Calls to a node throw
// `chain_timeout` by their AbortSignal (nothing changed), `chain_unavailable` when it refuses or is
// gone.

import type { ChainKey, Family } from '@parley/core/families.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { Contract } from '@parley/core/rules.ts';
import type { Building } from './interface/building.ts';
import type { Consent } from './interface/consent.ts';
import type { Cosigning } from './interface/cosigning.ts';
import type { Gas } from './interface/gas.ts';
import type { Reading } from './interface/reading.ts';
import type { Sending } from './interface/sending.ts';
import type { Tokens } from './interface/tokens.ts';

export type ChainAdapter = Reading &
  Building &
  Sending &
  Tokens &
  Partial<Cosigning> &
  Gas & {
    readonly chain: ChainKey;
    readonly family: Family;
    readonly policy: ChainPolicy;
    /** Usual time between blocks; absent where nobody is told of times. */
    readonly blockSeconds?: number;
    /** The contract that holds the escrows that it plans. */
    readonly contract: Contract;
    /** Absent where a payee cannot give up its claim by itself: Bitcoin. */
    readonly consent?: Consent;
    close(): Promise<void>;
  };
