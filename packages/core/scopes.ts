// The rights of a key beyond those of every valid key: specification part 5.

export const scopes = ['read', 'taker', 'maker'] as const;
export type Scope = (typeof scopes)[number];
