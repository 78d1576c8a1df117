/** Stable codes of the problems of a flow document. */
type FlowProblemCode =
  | 'invalid_document'
  | 'too_large'
  | 'duplicate_ref'
  | 'unknown_type'
  | 'invalid_field'
  | 'missing_origin'
  | 'several_origins'
  | 'missing_result'
  | 'unknown_node'
  | 'unknown_output'
  | 'unknown_input'
  | 'misplaced_gate'
  | 'misplaced_connection'
  | 'misplaced_secret'
  | 'cycle'
  | 'unknown_rule'
  | 'unknown_flow'
  | 'too_deep'
  | 'invalid_condition'
  | 'invalid_loop'
  | 'colliding_results';

/** One fault of a flow, in a form that an editor can show beside the node. */
export interface FlowProblem {
  readonly code: FlowProblemCode;
  /** A sentence that names the place and the remedy. */
  readonly message: string;
  /** JSON pointer into the document. */
  readonly path: string;
  /** The node with the problem; absent if it concerns no single node. */
  readonly ref?: string;
  /** Field of the node. */
  readonly field?: string;
}

/** Maximum number of problems reported per flow. */
const MAX_FLOW_PROBLEMS = 100;

/** Location of a problem. */
type FlowLocation = Omit<FlowProblem, 'code' | 'message'>;

/** Characters of a name that a message repeats: hostile names have megabytes. */
const SHOWN_LENGTH = 100;

/** A name from a client, shortened for a message. */
export const shown = (name: string): string =>
  name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}...` : name;

/** Known names for a message: the first 20. */
export const offered = (known: Iterable<string>): string => {
  const names = [...known];
  if (names.length === 0) return 'none';
  const first = names.slice(0, 20).map(shown).join(', ');
  return names.length > 20 ? `${first} and ${names.length - 20} more` : first;
};

/** Collects the problems of a flow, up to {@link MAX_FLOW_PROBLEMS}. */
export class FlowProblems {
  readonly list: FlowProblem[] = [];

  add(code: FlowProblemCode, message: string, location: FlowLocation): void {
    if (this.list.length < MAX_FLOW_PROBLEMS) this.list.push({ code, message, ...location });
  }
}
