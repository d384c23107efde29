// The service worker: it keeps every file of one build, so that the app opens with the market gone.
// Each file has the hash that the build named. A newer build waits until a person takes it.

import { wordsOf } from './own-words.ts';

declare global {
  /** Put in by the build: path below /app/ and SHA-256 in hex of every other file. */
  var __files: readonly (readonly [path: string, sha256: string])[];
  /** Put in by the build: paths of the router, a parameter as `$name`. */
  var __screens: readonly string[];
}

type Lasting = Event & { waitUntil(done: Promise<unknown>): void };
type Fetching = Event & { readonly request: Request; respondWith(answer: Promise<Response>): void };
type Told = Lasting & { readonly data: unknown };
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
/** A market that takes connections and says nothing must not keep the app from opening. */
const wordsMs = 5_000;
/** Named by their content: those of a former build are for its tabs that are still open. */
const lasting = '/app/assets/';
/** The app opens at its screens alone. The market has pages of its own at other addresses. */
const screens = self.__screens.map(
  (path) => new RegExp(`^${path.replace(/\$\w+/g, '[^/]+').replace(/\/$/, '')}/?$`),
);

async function keepAll(): Promise<void> {
  const cache = await caches.open(cacheName);
  for (const [url, sha256] of urls) await cache.put(url, await checked(url, sha256));
  await cache.put(description, await found(description));
  await words(cache);
}

async function found(url: string, how: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { cache: 'no-cache', ...how });
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
  // Not the last one: its other tabs may settle swaps, and load what they need when it is due.
  await Promise.all(old.slice(0, -1).map((name) => caches.delete(name)));
  await scope.clients.claim();
}

async function kept(url: string, request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  const former = () => (url.startsWith(lasting) ? caches.match(url) : undefined);
  return (await cache.match(url)) ?? (await former()) ?? fetch(request);
}

/** The market's own words, kept without its date: kept ones say nothing of a clock. */
async function words(cache: Cache): Promise<Response> {
  const response = await found(ownWords, { signal: AbortSignal.timeout(wordsMs) });
  const text = wordsOf(await response.text());
  const headers = { 'content-type': 'text/javascript; charset=utf-8' };
  await cache.put(ownWords, new Response(text, { headers }));
  const date = response.headers.get('date');
  return new Response(text, { headers: date === null ? headers : { ...headers, date } });
}

async function anew(): Promise<Response> {
  const cache = await caches.open(cacheName);
  try {
    return await words(cache);
  } catch (error) {
    const last = await cache.match(ownWords);
    if (last === undefined) throw error;
    return last;
  }
}

scope.addEventListener('install', (event) => (event as Lasting).waitUntil(keepAll()));
scope.addEventListener('activate', (event) => (event as Lasting).waitUntil(dropOthers()));
scope.addEventListener('message', (event) => {
  const told = event as Told;
  if (told.data === 'take over') told.waitUntil(scope.skipWaiting());
});
scope.addEventListener('fetch', (event) => {
  const { request } = event as Fetching;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== scope.location.origin) return;
  const fetching = event as Fetching;
  if (pathname === ownWords) return fetching.respondWith(anew());
  const isScreen = request.mode === 'navigate' && screens.some((each) => each.test(pathname));
  const url = isScreen ? shell : pathname;
  const isKept = urls.has(url) || url === description || url.startsWith(lasting);
  if (isKept) fetching.respondWith(kept(url, request));
});
