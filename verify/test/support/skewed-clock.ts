// Loaded into a server before its own code: its wall clock is so many seconds off the machine's.
// Monotonic time and timers go on as they do when a clock is set.

const machine = Date.now;
const skewMs = Number(process.env.PARLEY_TEST_CLOCK) * 1_000;
Date.now = () => machine() + skewMs;
