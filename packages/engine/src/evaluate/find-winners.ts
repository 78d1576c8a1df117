import { type CompiledGroup, type CompiledRule } from '../compile/compiled-rule';
import { type RuleSearch } from '../compile/build-search';
import { NO_CLAUSE } from '../match/matcher';
import { type Request } from '../outputs/formula-scope';
import { NO_ROW, type Winners } from './answer';

/** Finds the first row that matches, and where it belongs to a group all rows of the group that match. */
export const findWinners = (rule: CompiledRule, { input, now }: Request): Winners => {
  const { search, groupsByPlace } = rule;
  const { frame, matcher, clauses } = search;
  frame.open(input, now);
  const clause = matcher.next(0, NO_CLAUSE);
  const place = clauses.table.places[clause];
  const group = place === undefined ? undefined : groupsByPlace[place];
  const winners =
    group === undefined ? single(place) : { kind: 'group' as const, group, places: placesIn(search, group, clause) };
  frame.close();
  return winners;
};

const single = (place: number | undefined): Winners => (place === undefined ? NO_ROW : { kind: 'row', place });

/** Places of the rows of a group that match; the first clause that does is known. */
const placesIn = ({ clauses, matcher }: RuleSearch, { end }: CompiledGroup, first: number): readonly number[] => {
  const { table, firstClauses } = clauses;
  const bound = firstClauses[end] ?? 0;
  const places: number[] = [];
  let clause = first;
  while (clause < bound) {
    const place = table.places[clause] ?? 0;
    places.push(place);
    // A row joined with OR has several clauses; one that matches is enough.
    clause = matcher.next(firstClauses[place + 1] ?? bound, bound);
  }
  return places;
};
