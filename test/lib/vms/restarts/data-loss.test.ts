import { expect, test } from 'vitest'
import { dataLoss } from '../../../../src/lib/vms/waves/vm-restart.ts'

test('W2 only VMs that lose something are named, each with its volumes, and who restarts others is told how', () => {
  const otherwise = 'kvup workloads update     leaves these VMs alone'
  expect(dataLoss([['shop/web', []]], otherwise)).toEqual([])
  const loses = [
    ['shop/web', []],
    ['shop/db', ['emptyDisk scratch', 'containerDisk root']],
  ] as const
  expect(dataLoss(loses, otherwise)).toEqual([
    {
      id: 'data-loss',
      level: 'blocker',
      summary: 'a restart of 1 VM loses the data on volumes in its pod',
      objects: ['shop/db (emptyDisk scratch, containerDisk root)'],
      remedy: [otherwise],
    },
  ])
})
