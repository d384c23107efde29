// The service worker: it keeps every file of one build, so that the app opens with the market gone.
// What it keeps has the hashes that the build named. A newer build waits until a person takes it.

/** Put in by the build: path below /app/ and SHA-256 in hex of every other file. */
declare global {
  var __files: readonly (readonly [path: string, sha256: string])[];
}

type Lasting = Event & { waitUntil(done: Promise<unknown>): void };
type Fetching = Event & { readonly request: Request; respondWith(answer: Promise<Response>): void };
type Told = Event & { readonly data: unknown };
type Scope = EventTarget & {
  readonly location: Location;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
};

const scope = self as unknown as Scope;
const files = self.__files;
const own = 'parley-app-';
/** One cache a build. */
const cacheName = `${own}${files.map(([, sha256]) => sha256.slice(0, 4)).join('')}`;
const urls = new Map(files.map(([path, sha256]) => [`/app/${path}`, sha256]));
const shell = '/app/index.html';
/** Which build this is: the one that is kept, whatever the market serves by now. */
const description = '/app/build.json';
/** The market's own words: anew where it answers, else those of the last time. */
const ownWords = '/app/config.js';
/** Addresses that only the market answers. */
const ofMarket = /^\/(?:v1|account|market)(?:\/|$)/;

async function keepAll(): Promise<void> {
  const cache = await caches.open(cacheName);
  for (const [url, sha256] of urls) await cache.put(url, await checked(url, sha256));
  for (const url of [description, ownWords]) await cache.put(url, await found(url));
}

async function found(url: string): Promise<Response> {
  const response = await fetch(url, { cache: 'no-cache' });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}

async function checked(url: string, sha256: string): Promise<Response> {
  const response = await found(url);
  const digest = await crypto.subtle.digest('SHA-256', await response.clone().arrayBuffer());
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0'));
  if (hex.join('') !== sha256) throw new Error(`${url} is not what the build names`);
  return response;
}

async function dropOthers(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(own) && name !== cacheName);
  await Promise.all(old.map((name) => caches.delete(name)));
  await scope.clients.claim();
}

async function kept(url: string, request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  return (await cache.match(url)) ?? fetch(request);
}

async function anew(url: string): Promise<Response> {
  const cache = await caches.open(cacheName);
  try {
    const response = await found(url);
    await cache.put(url, response.clone());
    return response;
  } catch (error) {
    const last = await cache.match(url);
    if (last === undefined) throw error;
    return last;
  }
}

scope.addEventListener('install', (event) => (event as Lasting).waitUntil(keepAll()));
scope.addEventListener('activate', (event) => (event as Lasting).waitUntil(dropOthers()));
scope.addEventListener('message', (event) => {
  if ((event as Told).data === 'take over') void scope.skipWaiting();
});
scope.addEventListener('fetch', (event) => {
  const { request } = event as Fetching;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== scope.location.origin) return;
  if (ofMarket.test(pathname)) return;
  const fetching = event as Fetching;
  if (pathname === ownWords) return fetching.respondWith(anew(ownWords));
  const url = request.mode === 'navigate' ? shell : pathname;
  if (urls.has(url) || url === description) fetching.respondWith(kept(url, request));
});
