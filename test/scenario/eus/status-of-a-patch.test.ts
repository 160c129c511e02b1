import { expect, test } from 'vitest'
import type { EusStatusDocument } from '../../../src/lib/eus/run/window-status-report.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { play, type Stage } from '../stage.ts'
import { doneSteps, eusRunOn, eusStatusOn, small418 } from './window-stage.ts'

/** 4.18.18 leads to no 4.19: the patch 4.18.21 has to come first. */
const behind418 = {
  ...small418,
  openshift: { ...ocp418to420, ...small418.openshift, version: '4.18.18' },
}

async function partsNow(stage: Stage): Promise<readonly string[]> {
  const { documents } = await eusStatusOn(stage)
  const { parts } = documents.at(-1) as unknown as EusStatusDocument
  return parts.map(({ name, state }) => `${state} ${name}`)
}

test('a patch that comes first is a part of its own, and not filed under the pools', () =>
  play(behind418, async (stage) => {
    const ended = await eusRunOn(stage, { until: 'accepted-4.18.21' })
    expect(doneSteps(ended)).toContain('gate-platform-4.18.21')
    expect((await partsNow(stage)).slice(0, 4)).toEqual([
      'done Pause automatic VM updates',
      'done Pause pools',
      'now Update the platform to 4.18.21',
      'ahead Update the platform to 4.19',
    ])
  }))
