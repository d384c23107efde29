// The channel as senders see it.

export type Outgoing = {
  /** The same at every attempt. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly at: Date;
};

/** The outcome of an attempt. Errors are a few words that name no address, token or text. */
export type Outcome =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'again';
      readonly error: string;
      /** The whole channel is down, for every recipient. */
      readonly isDown: boolean;
      /** Only the operator can mend it. */
      readonly isOurs?: boolean;
      /** So long at least, as the other side asks. */
      readonly afterSeconds?: number;
    }
  /** This receiver takes it at no time. */
  | { readonly kind: 'refused'; readonly error: string }
  /** A chat where nothing can be written any more. */
  | { readonly kind: 'ended'; readonly error: string };

export type Courier = {
  /** Never throws; ends within its limit, or when the signal does. */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Outcome>;
  close(): void;
};
