"""The graph of unique: stages that merge the groups of blocks, and tasks that write the inverse.

A stage takes the keys of tasks that return groups, and adds tasks that merge or exchange the
groups. In a tree, each task of a stage merges `split_every` neighbours, until one task is left.
With partitions, the groups of all blocks are exchanged: divided into ranges of values, each of
which is merged by itself, so that no task holds all groups. For partitions in order of first
occurrence, the merged groups are then exchanged again, into ranges of positions.

For the inverse, each stage also records the new number of each group that it merged. The numbers of
the final groups are passed back through the stages, from the last stage to the first, and then the
inverse of each block is written. Until then two things are held for each block: its groups, and the
inverse of the block alone, in the smallest unsigned integers (of 1, 2 or 4 bytes for up to 2**32
groups).
"""

import operator
from itertools import chain

from fastsel.dask import _groups
from fastsel.dask._blocks import blocks, locations, task


class Graph:
    """The tasks of one call of unique or group_indices."""

    def __init__(self, x, name, rule):
        self.name = name
        self.rule = rule
        # A function for each stage. It takes the keys of tasks that return the numbers of the
        # stage's output groups, and adds tasks that return the numbers of its input groups.
        self.functions_of_stages = []
        self.locations, self.tasks = locations(x, name)
        self.any_location = next(iter(self.locations.values()))
        self.leaves = [
            self.add("leaf", block, task(_groups.leaf, key, self.locations[block], rule=rule))
            for block, key in blocks(x).items()
        ]
        self.group_keys = self.keys_of_groups("leaf", self.leaves)

    def add(self, step, indices, new_task):
        """Add a task; returns its key."""
        key = (f"{step}-{self.name}", *indices)
        self.tasks[key] = new_task
        return key

    def merge_by_tree(self, split_every):
        """Merge neighbours until one task is left. Returns a list with one task key, of the groups
        in their final order."""
        group_keys, level = self.group_keys, 0
        while len(group_keys) > 1:
            group_keys = self.merge_neighbours(group_keys, level, split_every)
            level += 1
        return self.arrange(group_keys)

    def merge_by_partitions(self, partitions):
        """Merge one range of values for each partition and then, if the result is not sorted, one
        range of positions. Returns a list with one task key per partition, of its groups in their
        final order."""
        min_samples = _groups.MIN_SAMPLES
        count = max(min_samples * partitions // len(self.group_keys), min_samples)
        samples = [
            self.add("sample", (k,), task(_groups.sample, key, count=count))
            for k, key in enumerate(self.group_keys)
        ]
        borders = self.add(
            "borders", (0,), task(_groups.borders_of_values, samples, partitions=partitions)
        )
        group_keys = self.exchange(self.group_keys, 0, _groups.part_by_value, borders, partitions)
        if not self.rule.sorted:
            borders_task = task(
                _groups.borders_of_index, self.any_location, partitions=partitions, rule=self.rule
            )
            borders = self.add("borders", (1,), borders_task)
            group_keys = self.exchange(group_keys, 1, _groups.part_by_index, borders, partitions)
        return self.arrange(group_keys)

    def keys_of_groups(self, step, keys):
        """Keys of tasks that return BlockGroups alone; for the inverse, the tasks of `keys`
        return Numbered."""
        if not self.rule.inverse:
            return keys
        get = operator.attrgetter("groups")
        return [self.add(f"{step}-groups", key[1:], (get, key)) for key in keys]

    def merge_neighbours(self, group_keys, level, split_every):
        """Merge up to `split_every` neighbours in each task; returns the keys of the new groups."""
        runs = [group_keys[k : k + split_every] for k in range(0, len(group_keys), split_every)]
        merged, numbers_by_run = self.merge_runs(f"merge{level}", runs)
        self.functions_of_stages.append(lambda numbers: [*chain(*numbers_by_run(numbers))])
        return merged

    def exchange(self, group_keys, level, divide, borders, partitions):
        """Divide groups into ranges by the function `divide`, and merge each range; returns the
        keys of the merged groups."""
        step = f"exchange{level}"
        parted = [
            self.add(f"{step}-part", (k,), task(divide, key, borders, partitions=partitions))
            for k, key in enumerate(group_keys)
        ]
        pieces = [
            [
                self.add(f"{step}-piece", (k, p), task(_groups.one_part, key, k=p))
                for k, key in enumerate(parted)
            ]
            for p in range(partitions)
        ]
        merged, numbers_by_range = self.merge_runs(f"{step}-merge", pieces)

        def add_numbers_tasks(numbers):
            numbers_by_source = zip(*numbers_by_range(numbers), strict=True)
            return [
                self.add(f"{step}-numbers", (k,), task(_groups.numbers_of_undivided, key, [*parts]))
                for k, (key, parts) in enumerate(zip(parted, numbers_by_source, strict=True))
            ]

        self.functions_of_stages.append(add_numbers_tasks)
        return merged

    def merge_runs(self, step, runs):
        """Merge each run of groups in one task. Returns the keys of the merged groups, and a
        function: it takes the keys of tasks that return their numbers, adds tasks that return the
        numbers of the groups of each member of a run, and returns their keys, run by run."""
        merged = [
            self.add(step, (k,), task(_groups.merge, run, rule=self.rule))
            for k, run in enumerate(runs)
        ]

        def numbers_by_run(numbers):
            find = _groups.numbers_of_source
            return [
                [
                    self.add(f"{step}-members", (k, m), task(find, numbers[k], merged[k], k=m))
                    for m in range(len(run))
                ]
                for k, run in enumerate(runs)
            ]

        return self.keys_of_groups(step, merged), numbers_by_run

    def arrange(self, group_keys):
        """Put groups into their final order; returns the keys of tasks that return Ordered."""
        return [
            self.add("ordered", (k,), task(_groups.arrange, key, rule=self.rule))
            for k, key in enumerate(group_keys)
        ]

    def inverse_tasks(self, ordered):
        """For each block, a task that returns its inverse. `ordered` has the keys of the tasks that
        return the groups in their final order."""
        sizes = [self.add("count", (k,), (_groups.size, key)) for k, key in enumerate(ordered)]
        numbers = [
            self.add("last", (k,), task(_groups.final_numbers, key, sizes, k=k))
            for k, key in enumerate(ordered)
        ]
        for add_numbers_tasks in reversed(self.functions_of_stages):
            numbers = add_numbers_tasks(numbers)
        return [
            task(_groups.numbers_of_source, *pair, k=0)
            for pair in zip(numbers, self.leaves, strict=True)
        ]

    def group_indices_tasks(self, ordered):
        """(indices, offsets): two lists with one task for each key in `ordered`, the keys of the
        tasks that return the groups in their final order. The tasks of `indices` return the
        positions of the items, group after group. The tasks of `offsets` return where the positions
        of each group end in `indices`; the first task also returns the 0 before the first group.
        The caller has rechunked the array to blocks that follow one another along the first axis.
        """
        blocks = [
            self.add(
                "grouped",
                (k,),
                task(_groups.grouped_block, self.add("inverse", (k,), inverse_task), location),
            )
            for (k, inverse_task), location in zip(
                enumerate(self.inverse_tasks(ordered)), self.locations.values(), strict=True
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
