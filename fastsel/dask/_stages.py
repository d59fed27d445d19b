"""The graph of unique: stages that merge the groups of blocks, and then write the inverse.

A stage takes the keys of tasks that return groups, and adds tasks that merge or exchange the
groups. In a tree, each stage merges `split_every` neighbours, until one task is left. With
partitions, the groups of all blocks are divided into ranges of values, and each range is merged by
itself, so that no task holds all groups. For order of first occurrence, the groups are exchanged
once more, from ranges of values to ranges of positions.

For the inverse, each stage also records the new number of each group that it merged. The numbers of
the final groups are passed back through the stages, from the last stage to the first, and then the
inverse of each block is written. Until then a block is held as codes of 1, 2 or 4 bytes per item.
"""

import operator

from fastsel.dask import _groups
from fastsel.dask._blocks import blocks, locations, task


class Graph:
    """The tasks of one call of unique."""

    def __init__(self, x, name, rule):
        self.name = name
        self.rule = rule
        self.tasks = {}
        self.descents = []  # for each stage: numbers of its output groups -> of its input groups
        where, tasks = locations(x, name)
        self.tasks.update(tasks)
        self.where = where
        self.anywhere = next(iter(where.values()))
        self.leaves = [
            self.add("leaf", block, task(_groups.leaf, key, where[block], rule=rule))
            for block, key in blocks(x).items()
        ]
        self.groups = self.groups_of("leaf", self.leaves)

    def add(self, step, location, job):
        """Add a task; returns its key."""
        key = (f"{step}-{self.name}", *location)
        self.tasks[key] = job
        return key

    def tree(self, split_every):
        """Merge neighbours until one task is left. Returns the keys of the last stage, in order."""
        groups, level = self.groups, 0
        while len(groups) > 1:
            groups = self.merge_neighbours(groups, level, split_every)
            level += 1
        return self.arranged(groups)

    def partitioned(self, partitions):
        """Merge one range of values, or of positions, for each partition. Returns the keys of the
        merged groups."""
        least = _groups.MIN_SAMPLES
        count = max(least * partitions // len(self.groups), least)
        samples = [
            self.add("sample", (k,), task(_groups.sample, key, count=count))
            for k, key in enumerate(self.groups)
        ]
        borders = self.add(
            "borders", (0,), task(_groups.borders_of_values, samples, partitions=partitions)
        )
        groups = self.exchange(self.groups, 0, _groups.part_by_value, borders, partitions)
        if not self.rule.sorted:
            job = task(
                _groups.borders_of_index, self.anywhere, partitions=partitions, rule=self.rule
            )
            borders = self.add("borders", (1,), job)
            groups = self.exchange(groups, 1, _groups.part_by_index, borders, partitions)
        return self.arranged(groups)

    def groups_of(self, step, keys):
        """The keys of the groups alone, without the numbers that the inverse needs later."""
        if not self.rule.inverse:
            return keys
        get = operator.attrgetter("groups")
        return [self.add(f"{step}-groups", key[1:], (get, key)) for key in keys]

    def merge_neighbours(self, groups, level, split_every):
        runs = [groups[k : k + split_every] for k in range(0, len(groups), split_every)]
        merged = [
            self.add("merge", (level, k), task(_groups.merge, run, rule=self.rule))
            for k, run in enumerate(runs)
        ]

        def descend(numbers):
            return [
                self.add(
                    "numbers",
                    (level, k, member),
                    task(_groups.numbers_before, numbers[k], merged[k], k=member),
                )
                for k, run in enumerate(runs)
                for member in range(len(run))
            ]

        self.descents.append(descend)
        return self.groups_of("merge", merged)

    def exchange(self, groups, level, part, borders, partitions):
        """Divide groups into ranges, and merge each range."""
        step = f"exchange{level}"
        ranges = range(partitions)
        parted = [
            self.add(f"{step}-part", (k,), task(part, key, borders, partitions=partitions))
            for k, key in enumerate(groups)
        ]
        pieces = [
            [
                self.add(f"{step}-piece", (k, p), task(_groups.one_part, key, k=p))
                for k, key in enumerate(parted)
            ]
            for p in ranges
        ]
        merged = [
            self.add(f"{step}-merge", (p,), task(_groups.merge, pieces[p], rule=self.rule))
            for p in ranges
        ]

        def descend(numbers):
            return [
                self.add(
                    f"{step}-numbers",
                    (k,),
                    task(
                        _groups.numbers_of_whole,
                        key,
                        [
                            self.add(
                                f"{step}-back",
                                (p, k),
                                task(_groups.numbers_before, numbers[p], merged[p], k=k),
                            )
                            for p in ranges
                        ],
                    ),
                )
                for k, key in enumerate(parted)
            ]

        self.descents.append(descend)
        return self.groups_of(f"{step}-merge", merged)

    def arranged(self, groups):
        return [
            self.add("ordered", (k,), task(_groups.arrange, key, rule=self.rule))
            for k, key in enumerate(groups)
        ]

    def inverse(self, ordered):
        """For each block, a task that returns its inverse."""
        sizes = [self.add("count", (k,), (_groups.size, key)) for k, key in enumerate(ordered)]
        numbers = [
            self.add("last", (k,), task(_groups.numbers_of_last, key, sizes, k=k))
            for k, key in enumerate(ordered)
        ]
        for descend in reversed(self.descents):
            numbers = descend(numbers)
        return [
            task(_groups.numbered_block, *pair) for pair in zip(numbers, self.leaves, strict=True)
        ]

    def grouped(self, ordered):
        """Two tasks for each part of the final groups: one returns the positions of their items,
        one the offsets. The blocks follow one another along the first axis."""
        blocks = [
            self.add(
                "grouped", (k,), task(_groups.grouped_block, self.add("inverse", (k,), job), where)
            )
            for (k, job), where in zip(
                enumerate(self.inverse(ordered)), self.where.values(), strict=True
            )
        ]
        parts = range(len(ordered))
        sizes = [(f"count-{self.name}", k) for k in parts]
        totals = [self.add("total", (k,), (_groups.total, key)) for k, key in enumerate(ordered)]
        pieces = [
            [
                self.add("grouped-part", (p, k), task(_groups.grouped_part, key, sizes, k=p))
                for k, key in enumerate(blocks)
            ]
            for p in parts
        ]
        indices = [task(_groups.joined_indices, pieces[p]) for p in parts]
        offsets = [task(_groups.offsets_of, ordered[p], totals, k=p) for p in parts]
        return indices, offsets
