import { type Engine } from './engine';

/** Engines that answer questions: each question goes to the engine with the fewest. At least one. */
export const poolOf = ([first, ...others]: readonly [Engine, ...Engine[]]): Pick<Engine, 'ask' | 'stop'> => ({
  ask: (question) =>
    others.reduce((idle, engine) => (engine.waiting() < idle.waiting() ? engine : idle), first).ask(question),
  stop: async () => {
    await Promise.all([first, ...others].map((engine) => engine.stop()));
  },
});
