import { expect, test } from 'vitest'
import { asTyped } from '../../../src/lib/eus/planned-eus.ts'
import { play } from '../stage.ts'
import { eusRunOn, small418 } from './window-stage.ts'

test('what a refusal says to plan anew is made from the files and risks that were typed', () =>
  play(small418, async (stage) => {
    const accept = ['operator-stranded', 'path-unknown']
    const ended = await eusRunOn(stage, { to: '4.21', accept })
    expect(ended.error?.remedy[0]).toMatch(
      /^kvup eus plan --to 4\.20 --graph-file graph\.json --catalog-file catalog\.yaml --accept operator-stranded --accept path-unknown {5,}goes as far/u,
    )
  }))

test('what such a line names itself is not said twice, and other lines stay as they are', () => {
  const remedy = ['kvup eus plan --graph-file FILE      shows the whole upgrade path', 'oc adm upgrade']
  const finding = { id: 'path-unknown', level: 'not-checked', summary: '', remedy } as const
  const typed = { to: '4.20', graphFile: 'old.json', catalogFile: 'my files/c.yaml', accept: [] }
  expect(asTyped([finding], typed)[0]?.remedy).toEqual([
    "kvup eus plan --graph-file FILE --to 4.20 --catalog-file 'my files/c.yaml'      shows the whole upgrade path",
    'oc adm upgrade',
  ])
})
