import { measureValue } from '@decision/expressions';
import { type RuleParts } from '../compile/compiled-rule';
import { BRIEF_ROWS } from '../compile/condition-texts';
import { type Audience, type ExplainMode, type LosingRow, type RuleExplanation } from '../rule-outcome';
import { type Winners } from './answer';
import { type Grounds, MAX_SIZE, ROW_SIZE, type Trial, whyLost } from './losing-row';
import { listLosingRows } from './losing-row-texts';
import { type Request } from './row-outputs';

export interface Decision {
  readonly winners: Winners;
  readonly matched: readonly number[];
  readonly mode: ExplainMode;
  readonly audience: Audience | undefined;
}

interface Losers {
  readonly lost: readonly LosingRow[];
  readonly not_listed: number;
}

/** The rows that made an answer, and why each row before them lost. The latter is computed on first access. */
export class Explanation implements RuleExplanation {
  readonly matched: readonly number[];
  readonly group?: string;
  private losers: Losers | undefined;
  private readonly grounds: Grounds;

  constructor(
    rule: RuleParts,
    request: Request,
    private readonly decision: Decision,
  ) {
    this.matched = decision.matched;
    const { audience } = decision;
    this.grounds = { rule, request, search: rule.search, values: rule.bindings.values, audience };
    if (decision.winners.kind === 'group') this.group = decision.winners.group.id;
  }

  get lost(): readonly LosingRow[] {
    return this.findLosers().lost;
  }

  get not_listed(): number {
    return this.findLosers().not_listed;
  }

  text(): string {
    const { matched, group, grounds, decision } = this;
    const { request, search } = grounds;
    const trial = trialOf(grounds.rule, decision);
    const ofGroup = group === undefined ? '' : `,"group":${JSON.stringify(group)}`;
    search.frame.open(request.input, request.now);
    const { text, count } = listLosingRows(`{"matched":[${matched.join(',')}]${ofGroup},"lost":[`, grounds, trial);
    search.frame.close();
    return `${text}],"not_listed":${losing(trial) - count}}`;
  }

  toJSON(): unknown {
    const { matched, group, lost, not_listed } = this;
    return { matched, ...(group === undefined ? {} : { group }), lost, not_listed };
  }

  private findLosers(): Losers {
    this.losers ??= losersOf(this.grounds, trialOf(this.grounds.rule, this.decision));
    return this.losers;
  }
}

const trialOf = ({ rowCount }: RuleParts, { winners, mode }: Decision): Trial => {
  const limit = mode === 'all' ? Infinity : BRIEF_ROWS;
  switch (winners.kind) {
    case 'none':
      return { won: undefined, end: rowCount, limit };
    case 'row':
      return { won: undefined, end: winners.turn, limit };
    case 'group':
      return { won: new Set(winners.turns), end: winners.group.end, limit };
  }
};

/** How many rows lost. */
const losing = ({ won, end }: Trial): number => end - (won?.size ?? 0);

const losersOf = (grounds: Grounds, trial: Trial): Losers => {
  const { request, search } = grounds;
  const { won, end, limit } = trial;
  const lost: LosingRow[] = [];
  search.frame.open(request.input, request.now);
  let left = MAX_SIZE;
  for (let turn = 0; turn < end && lost.length < limit && left > 0; turn += 1) {
    if (won?.has(turn) === true) continue;
    const row = whyLost(grounds, turn);
    left -= ROW_SIZE + measureValue(row, MAX_SIZE);
    lost.push(row);
  }
  search.frame.close();
  return { lost, not_listed: losing(trial) - lost.length };
};
