import { nearName } from '@decision/expressions';
import { type ContextModel } from '../definitions/context-model';

/** Characters that are compared with each other at most, for all names together: some 50 ms. Names beyond it get no suggestion. */
const MOST_COMPARED = 4_000_000;
/** Longer names are not compared, and shorter ones are near to too many. */
const LONGEST = 64;
const SHORTEST = 3;

/** Finds the facts that misspelt names most likely mean, among those that can be given. One serves all records of a request, and bounds what they cost. */
export class NearFacts {
  private readonly names: readonly string[];
  private readonly characters: number;
  private readonly found = new Map<string, string | undefined>();
  private compared = 0;

  constructor({ facts }: ContextModel) {
    this.names = [...facts.values()].filter(({ outputOnly }) => !outputOnly).map(({ key }) => key);
    this.characters = this.names.reduce((sum, { length }) => sum + Math.min(length, LONGEST), 0);
  }

  of(name: string): string | undefined {
    if (name.length < SHORTEST || name.length > LONGEST) return undefined;
    if (this.found.has(name)) return this.found.get(name);
    const cost = name.length * (this.characters + this.names.length);
    if (this.compared + cost > MOST_COMPARED) return undefined;
    this.compared += cost;
    const meant = nearName(name, this.names);
    this.found.set(name, meant);
    return meant;
  }
}
