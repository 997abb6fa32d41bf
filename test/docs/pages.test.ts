import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documentAt, DOCUMENTS, ROOT } from '../helpers/documents.js';

const LANGUAGES = ['', 'sh', 'js', 'ts', 'json', 'yaml'];
const IMAGE_BYTES = 150_000;

describe('README and docs', () => {
  it('have links that lead somewhere, and anchors that are there', () => {
    for (const { path, links, anchors } of DOCUMENTS) {
      for (const link of links.filter((one) => !one.startsWith('https://'))) {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : join(dirname(path), file);
        expect(existsSync(ROOT + target), `${path} to ${link}`).to.equal(true);
        if (anchor === undefined) continue;
        const there = file === '' ? anchors : documentAt(target).anchors;
        expect([...there], `${path} to ${link}`).to.include(anchor);
      }
    }
  });

  it('link to no page of the dashboard, and are all in the list of the first', () => {
    const docs = DOCUMENTS.filter(({ path }) => path.startsWith('docs/'));
    for (const { path, links } of docs) {
      for (const link of links) {
        expect(link, path).to.match(
          /^(?:https:\/\/|#|images\/[a-z-]+\.png$|\.\.\/|[A-Za-z-]+\.md(?:#|$))/u,
        );
      }
    }
    const { links } = documentAt('docs/README.md');
    for (const { path } of docs.filter(({ path }) => path !== 'docs/README.md')) {
      const name = path.slice('docs/'.length);
      expect(
        links.some((link) => link === name || link.startsWith(`${name}#`)),
        path,
      ).to.equal(true);
    }
  });

  it('name files that are there, and scripts of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const { path, codes } of DOCUMENTS) {
      for (const code of codes) {
        const isFile = /^(?:src|test|providers|schemas|docs|deploy)\/[a-z./-]+\.[a-z]+$/u.test(
          code,
        );
        if (isFile) expect(existsSync(ROOT + code), `${path}: ${code}`).to.equal(true);
        const script = /^npm run ([\w:-]+)/u.exec(code)?.[1];
        if (script !== undefined) expect(scripts, path).to.have.property(script);
      }
    }
  });

  it('and CONTRIBUTING name files that are there', () => {
    const text = readFileSync(`${ROOT}CONTRIBUTING.md`, 'utf8');
    const files = text.matchAll(/`((?:src|test|providers|schemas|docs|deploy|\.ci)\/[\w./-]+)`/gu);
    for (const [, file = ''] of files) {
      if (!/\b(?:NAME|FORMAT|FOLDER)\b/u.test(file))
        expect(existsSync(ROOT + file), file).to.equal(true);
    }
  });

  it('have lines of 100 columns, where they are neither tables nor code', () => {
    for (const { path, text } of DOCUMENTS) {
      const prose = text.replaceAll(/^```[\s\S]*?^```/gmu, '');
      const long = prose.split('\n').filter((line) => line.length > 100 && !line.startsWith('|'));
      expect(
        long.filter((line) => / \S+ /u.test(line) && !line.startsWith('[')),
        path,
      ).to.deep.equal([]);
    }
    const readme = documentAt('README.md').text.split('\n');
    expect(readme.length).to.be.at.most(151);
    expect(readme.filter((line) => line.length > 100)).to.deep.equal([]);
  });

  it('say of each fenced block what it is', () => {
    for (const { path, blocks } of DOCUMENTS) {
      for (const { language } of blocks) expect(LANGUAGES, path).to.include(language);
    }
  });

  it('have small images', () => {
    for (const { path, links } of DOCUMENTS) {
      for (const link of links.filter((one) => one.endsWith('.png'))) {
        const { size } = statSync(join(ROOT, dirname(path), link));
        expect(size, link).to.be.at.most(IMAGE_BYTES);
      }
    }
  });
});
