import { describeKind } from '../values/kind';
import { type CallSite } from './call-site';

/** Reduction of many values to one; they may be given piece by piece. Faults name the place of a value among all of them. */
export interface Reduction {
  add(values: readonly unknown[]): void;
  /** Result for all values so far. */
  result(): unknown;
}

const failValue = (site: CallSite, expected: string, value: unknown, index: number): never =>
  site.fail('wrong_type', `expected ${expected}, but the value at ${index} (from 0) is ${describeKind(value)}`);

/** The sum and count of numbers, added in their order; null is passed over. */
class Total {
  private sum = 0;
  private count = 0;
  private index = 0;

  constructor(private readonly site: CallSite) {}

  add(values: readonly unknown[]): void {
    for (const value of values) {
      this.index += 1;
      if (value === null || value === undefined) continue;
      if (typeof value !== 'number') return failValue(this.site, 'a number', value, this.index - 1);
      this.sum += value;
      this.count += 1;
    }
  }

  result(): { readonly sum: number; readonly count: number } {
    const { sum, count, site } = this;
    return Number.isFinite(sum) ? { sum, count } : site.fail('not_finite', 'the sum is not a finite number');
  }
}

export class SumReduction implements Reduction {
  private readonly total: Total;

  constructor(site: CallSite) {
    this.total = new Total(site);
  }

  add(values: readonly unknown[]): void {
    this.total.add(values);
  }

  result(): number {
    return this.total.result().sum;
  }
}

/** The mean; null where there is no number. */
export class AverageReduction implements Reduction {
  private readonly total: Total;

  constructor(site: CallSite) {
    this.total = new Total(site);
  }

  add(values: readonly unknown[]): void {
    this.total.add(values);
  }

  result(): number | null {
    const { sum, count } = this.total.result();
    return count === 0 ? null : sum / count;
  }
}

type Precedes = <Value extends number | string>(a: Value, b: Value) => boolean;

export const isLess: Precedes = (a, b) => a < b;
export const isGreater: Precedes = (a, b) => a > b;

/** The value that no other precedes, by a comparison of numbers or of strings; null is passed over. */
export class ExtremeReduction implements Reduction {
  private best: number | string | null = null;
  private index = 0;

  constructor(
    private readonly site: CallSite,
    private readonly precedes: Precedes,
  ) {}

  add(values: readonly unknown[]): void {
    for (const value of values) {
      this.index += 1;
      if (value !== null && value !== undefined) this.best = this.better(value, this.index - 1);
    }
  }

  result(): number | string | null {
    return this.best;
  }

  private better(value: unknown, index: number): number | string {
    const { best, site, precedes } = this;
    if (typeof value !== 'number' && typeof value !== 'string')
      return failValue(site, 'a number or a string', value, index);
    if (best === null) return value;
    if (typeof value === 'number' && typeof best === 'number') return precedes(value, best) ? value : best;
    if (typeof value === 'string' && typeof best === 'string') return precedes(value, best) ? value : best;
    return failValue(site, `${describeKind(best)} like those before`, value, index);
  }
}
