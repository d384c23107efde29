// The password manager of the browser, by the Credential Management API where it has that. Others
// save what a form with a new password sends, and fill it in again.

type Saved = { readonly id: string; readonly name: string; readonly password: string };

type Manager = {
  store(credential: object): Promise<unknown>;
  get(wanted: { readonly password: true; readonly mediation: 'optional' }): Promise<unknown>;
};

type Maker = new (saved: Saved) => object;

function makerHere(): Maker | null {
  const { PasswordCredential } = globalThis as { readonly PasswordCredential?: Maker };
  return PasswordCredential ?? null;
}

const manager = () => navigator.credentials as unknown as Manager;

/** Has the browser ask whether it shall keep it. It does not say what its person answered. */
export async function offerToManager(saved: Saved): Promise<void> {
  const made = makerHere();
  if (made === null) return;
  // A person who said no has the field of the form all the same.
  await manager()
    .store(new made(saved))
    .catch(() => undefined);
}

/** null: the browser cannot say, or its person did not choose an entry. */
export async function askManager(): Promise<string | null> {
  if (makerHere() === null) return null;
  const wanted = { password: true, mediation: 'optional' } as const;
  const found = await manager()
    .get(wanted)
    .catch(() => null);
  const { password } = (found ?? {}) as Partial<Saved>;
  return typeof password === 'string' ? password : null;
}
