import { assignmentChange } from './assignment-change';

describe('assignmentChange', () => {
  it.each<[number[], number[], number[], number[]]>([
    [[], [], [], []],
    [[], [1, 2], [1, 2], []],
    [[1, 2], [], [], [1, 2]],
    [[1, 2, 3], [2, 3, 4], [4], [1]],
    [[1, 2], [2, 1], [], []],
  ])('from %j to %j gains %j and loses %j', (before, after, gained, lost) => {
    expect(assignmentChange(before, after)).toEqual({ owned: after, gained, lost });
  });
});
