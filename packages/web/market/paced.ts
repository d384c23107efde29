// Work that costs requests: done at once, and again when a pause is over, however often it is asked
// for meanwhile.

export type Paced = {
  /** Asks for the work. */
  soon(): void;
  /** For good. */
  stop(): void;
};

export function paced(pauseMs: number, work: () => void): Paced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  let isOver = false;
  const now = () => {
    isDue = false;
    timer = setTimeout(paused, pauseMs);
    work();
  };
  const paused = () => {
    timer = undefined;
    if (isDue) now();
  };
  return {
    soon: () => {
      if (isOver) return;
      if (timer === undefined) now();
      else isDue = true;
    },
    stop: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
