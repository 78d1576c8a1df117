import { type Engine } from './engine';

/** Engines that answer questions: each next one goes to that with the fewest. One at least. */
export const poolOf = ([first, ...others]: readonly [Engine, ...Engine[]]): Pick<Engine, 'ask' | 'stop'> => ({
  ask: (question) =>
    others.reduce((idle, engine) => (engine.waiting() < idle.waiting() ? engine : idle), first).ask(question),
  stop: async () => {
    await Promise.all([first, ...others].map((engine) => engine.stop()));
  },
});
