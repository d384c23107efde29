// What a catalogue of texts holds.

/** One sentence, or one for each plural form of `{count}`. */
export type Text = string | (Partial<Record<Intl.LDMLPluralRule, string>> & { other: string });

/** A catalogue in another language: the keys of the English one. */
export type Words<English> = { readonly [Key in keyof English]: Text };
