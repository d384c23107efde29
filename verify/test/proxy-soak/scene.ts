// The stage of the soak's rows: markets on one database, which differ in whom they trust as a
// proxy, and proxies of one kind that are opened before them.

import { freePort } from '@parley/host/free-port.ts';
import { type Certificate, makeCertificate, trusted } from '../support/certificate.ts';
import { type Customer, newCustomer } from '../support/customers.ts';
import { type Server, type Stage, startStage } from '../support/stage.ts';
import { type Feed, openFeed } from './feed.ts';
import {
  type Change,
  type Kind,
  type Place,
  type Program,
  type RunningProxy,
  startProxy,
} from './programs.ts';

export type Markets = {
  /** Two that trust the proxy's address, and nobody else. */
  readonly one: Server;
  readonly two: Server;
  /** Trusts nobody: the proxy is not named. */
  readonly missing: Server;
};

export type Ground = {
  readonly stage: Stage;
  readonly markets: Markets;
  readonly place: Place;
};

export type Scene = Ground & {
  readonly program: Program;
  /** Before both of the markets that trust it. */
  readonly proxy: RunningProxy;
  readonly customers: readonly [Customer, Customer];
  /** The feed of the second customer; opened first of all, and quiet. */
  readonly feed: Feed;
  /** Another one, for as long as `work` takes. */
  with<T>(
    upstreams: readonly number[],
    work: (proxy: RunningProxy) => Promise<T>,
    changes?: readonly Change[],
  ): Promise<T>;
  close(): Promise<void>;
};

export type Row = {
  readonly name: string;
  /** The only kind of proxy that can play it. */
  readonly only?: Kind;
  /** Says what was found. Throws what is not as promised. */
  readonly play: (scene: Scene) => Promise<string>;
};

/** Requests without a key that a client may make in a minute. */
export const rateLimit = 1_000;

export async function openGround(): Promise<Ground> {
  const certificate: Certificate = trusted(makeCertificate(['DNS:localhost']));
  const place = { certificate, port: await freePort(), httpPort: await freePort() };
  const stage = await startStage({
    env: {
      PARLEY_PUBLIC_URL: `https://localhost:${place.port}`,
      PARLEY_RATE_LIMIT: String(rateLimit),
    },
  });
  try {
    const trusting = (proxies: string) =>
      stage.startServer({ env: { PARLEY_TRUSTED_PROXIES: proxies } });
    const markets = {
      one: await trusting('127.0.0.1'),
      two: await trusting('127.0.0.1'),
      missing: await trusting(''),
    };
    return { stage, markets, place };
  } catch (error) {
    await stage.close();
    throw error;
  }
}

export async function openScene(ground: Ground, program: Program): Promise<Scene> {
  const { stage, markets, place } = ground;
  const proxy = await startProxy(program, place, [markets.one.port, markets.two.port]);
  const own = { ...stage, url: proxy.url };
  const customers = [await newCustomer(own, 'Ann'), await newCustomer(own, 'Ben')] as const;
  const feed = await openFeed(proxy, customers[1].key);
  return {
    ...ground,
    program,
    proxy,
    customers,
    feed,
    close: async () => {
      feed.close();
      await proxy.stop();
    },
    with: async (upstreams, work, changes = []) => {
      const elsewhere = { ...place, port: await freePort(), httpPort: await freePort() };
      const other = await startProxy(program, elsewhere, upstreams, changes);
      try {
        return await work(other);
      } finally {
        await other.stop();
      }
    },
  };
}
