import { type SolvedInput } from '../decisions/solved-input';
import { type EvaluationThreads } from './evaluation-threads';

/** What the evaluations that are gathered have in common. */
interface Gathered {
  readonly threads: Pick<EvaluationThreads, 'solveFirst'>;
  readonly workspaceId: string;
  /** Epoch ms: the clock of the request. */
  readonly now: number;
  /** Epoch ms. */
  readonly deadline: number;
}

/** Evaluates an input, JSON text of an object, with a version of a rule. Rejects as `solveFirst` does. */
type Evaluate = (versionId: string, request: string) => Promise<SolvedInput>;

interface Asked {
  readonly request: string;
  readonly resolve: (solved: SolvedInput) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends the inputs of a rule that are asked for in one turn of the event loop to a thread together. */
export const gatherEvaluations = ({ threads, workspaceId, now, deadline }: Gathered): Evaluate => {
  const gathered = new Map<string, Asked[]>();
  const send = async (versionId: string): Promise<void> => {
    const waiting = gathered.get(versionId) ?? [];
    gathered.delete(versionId);
    try {
      while (waiting.length > 0) {
        const requests = waiting.map(({ request }) => request);
        const jobs = { workspaceId, versionId, now, explain: 'none', requests } as const;
        const answers = await threads.solveFirst(jobs, deadline);
        for (const answer of answers) waiting.shift()?.resolve(answer);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  };
  return (versionId, request) =>
    new Promise((resolve, reject) => {
      const waiting = gathered.get(versionId);
      if (waiting !== undefined) return void waiting.push({ request, resolve, reject });
      gathered.set(versionId, [{ request, resolve, reject }]);
      setImmediate(() => void send(versionId));
    });
};
