// The market that served this app. The browser sends the cookie of who is signed in.

import { parleyClient } from '@parley/sdk/client.ts';
import { ownSite } from './own-site.ts';

export const market = parleyClient(ownSite);
