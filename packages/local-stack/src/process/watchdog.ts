import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Ends when its standard input does: that is when the process that holds the other end has ended, whatever ended it. */
const SCRIPT = `
cat >/dev/null
[ -f "$1" ] || exit 0
listed() { while read -r signal pid _; do "$@" "$signal" "$pid"; done <"$file"; }
ask() { kill -s CONT "$2"; kill -s "$1" "$2"; }
look() { kill -s 0 "$2" && alive=yes; }
end() { kill -s KILL "$2"; }
file="$1"
listed ask
tries=0
while [ $tries -lt 25 ]; do
  alive=no
  listed look
  [ $alive = no ] && break
  sleep 0.2
  tries=$((tries + 1))
done
[ $alive = yes ] && listed end
rm -f "$file"
`;

interface Watchdog {
  readonly pid: number | undefined;
  /** Ends it; by then the register must be empty, else it does its work. */
  stop(): Promise<void>;
}

const STOP_DEADLINE_MS = 2_000;

/**
 * A small shell that outlives this process, even one killed with SIGKILL, and then ends the registered servers: in good
 * order first, by force after 5 s.
 */
export const startWatchdog = (registerPath: string): Watchdog => {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', registerPath], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined); // Without a shell there is no watchdog; the next start still finds leftovers.
  child.stdin.on('error', () => undefined);
  child.unref();
  return {
    pid: child.pid,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const ended = once(child, 'exit');
      child.ref();
      child.stdin.destroy();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
};
