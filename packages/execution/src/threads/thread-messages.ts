import { type ErrorCode, ServiceError } from '@decision/contracts';
import { type Audience, type ExplainMode } from '@decision/engine';
import { type FlowOutcome } from '@decision/flows';
import { type SolvedInput } from '../decisions/solved-input';
import { type FlowJob } from '../flows/flow-runner';

/** What the evaluations of one request have in common. */
interface EvaluationSettings {
  readonly workspaceId: string;
  readonly versionId: string;
  /** Epoch ms: the clock of the request. */
  readonly now: number;
  readonly explain: ExplainMode;
  /** As in the options of an evaluation. */
  readonly audience?: Audience | undefined;
}

/** An evaluation that is too long for the thread that handles messages. */
export interface EvaluationJob extends EvaluationSettings {
  /** The input: JSON text of an object. */
  readonly request: string;
}

/** Several inputs for one rule. */
export interface EvaluationJobs extends EvaluationSettings {
  /** As in {@link EvaluationJob}; at least one. */
  readonly requests: readonly string[];
}

interface RuleJob extends EvaluationJobs {
  readonly of: 'rule';
  /** Shared memory: index of the input that the thread has begun last, negative before the first. Absent if one input is asked for alone. */
  readonly begun?: Int32Array | undefined;
}

export type ThreadJob = RuleJob | ({ readonly of: 'flow' } & FlowJob);

export interface ThreadAnswer {
  /** Of a rule. */
  readonly solved?: PackedAnswers | undefined;
  /** Of a flow. */
  readonly outcome?: FlowOutcome;
  /** Why there is neither. */
  readonly failure?: PlainError;
  /** Bytes of all compiled rules and flows that the thread keeps, as they estimate themselves. */
  readonly compiledBytes: number;
}

/** An error taken apart, since messages between threads carry no classes. */
interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ServiceError['details'];
}

export const toPlain = ({ code, message, details }: ServiceError): PlainError => ({ code, message, details });

export const fromPlain = ({ code, message, details }: PlainError): ServiceError =>
  new ServiceError(code, message, details);

/** Answers to the first inputs of a job, by columns: an object for each answer takes longer to copy than a brief evaluation. */
interface PackedAnswers {
  /** A line for each: JSON text as it is written by machines has no line break. */
  readonly results: string;
  /** The indexes of matched rows of all answers, and where those of each answer end. */
  readonly matched: Float64Array;
  readonly matchedEnds: Uint32Array;
  readonly durationsUs: Float64Array;
  /** By the index of the answer. */
  readonly errors: ReadonlyMap<number, PlainError>;
}

const LINE_BREAK = '\n';

export const packAnswers = (solved: readonly SolvedInput[]): PackedAnswers => {
  const errors = new Map<number, PlainError>();
  const matched: number[] = [];
  const matchedEnds = new Uint32Array(solved.length);
  const durationsUs = new Float64Array(solved.length);
  for (const [index, one] of solved.entries()) {
    for (const row of one.matched) matched.push(row);
    matchedEnds[index] = matched.length;
    durationsUs[index] = one.durationUs;
    if (one.error !== undefined) errors.set(index, toPlain(one.error));
  }
  const results = solved.map(({ result }) => result).join(LINE_BREAK);
  return { results, matched: Float64Array.from(matched), matchedEnds, durationsUs, errors };
};

/** The answers, with the inputs that they answer. */
export const unpackAnswers = (
  { results, matched, matchedEnds, durationsUs, errors }: PackedAnswers,
  requests: readonly string[],
): readonly SolvedInput[] => {
  let begin = 0;
  return results.split(LINE_BREAK).map((result, index) => {
    const end = matchedEnds[index] ?? begin;
    const rows = Array.from(matched.subarray(begin, end));
    begin = end;
    const error = errors.get(index);
    return {
      request: requests[index] ?? '',
      result,
      matched: rows,
      error: error && fromPlain(error),
      durationUs: durationsUs[index] ?? 0,
    };
  });
};
