import { parseArgs } from 'node:util';
import { liftHold, listHolds, setHold } from '@decision/decision-archive';
import { type ArchiveCommand, CommandRefusal } from './archive-command';

export const HOLD_USAGE =
  'hold set <name> --from YYYY-MM-DD --to YYYY-MM-DD --reason <text>; hold lift <name>; hold list: days that are kept whatever their age';

/** Sets, lifts and lists holds. */
export const holdCommand: ArchiveCommand = async ({ opened: { store }, args, say }) => {
  const { what, name, values } = readArguments(args);
  if (what === 'set') {
    const { from = '', to = '', reason = '' } = values;
    await setHold(store, { name, from, to, reason });
    say(`The hold "${name}" keeps ${from} to ${to}.`);
  } else if (what === 'lift') {
    await liftHold(store, name);
    say(`The hold "${name}" was lifted.`);
  } else {
    const holds = await listHolds(store);
    for (const hold of holds) say(`${hold.name}: ${hold.from} to ${hold.to}: ${hold.reason}`);
    if (holds.length === 0) say('There is no hold.');
  }
  return 0;
};

const readArguments = (args: readonly string[]) => {
  const text = { type: 'string' } as const;
  try {
    const { values, positionals } = parseArgs({
      ...{ args: [...args], options: { from: text, to: text, reason: text } as const },
      ...{ allowPositionals: true, strict: true },
    });
    const [what = '', name = '', ...more] = positionals;
    if (['set', 'lift', 'list'].includes(what) && more.length === 0 && (name === '') === (what === 'list'))
      return { what, name, values };
  } catch (error) {
    throw new CommandRefusal(`${error instanceof Error ? error.message : String(error)} Usage: ${HOLD_USAGE}.`);
  }
  throw new CommandRefusal(`Usage: ${HOLD_USAGE}.`);
};
