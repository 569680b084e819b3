// The page of GraphiQL: its settings stand in the page as JSON.
import { GraphiQL } from 'graphiql';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { h, render } from 'preact';
import 'graphiql/graphiql.css';

const settings = JSON.parse(document.getElementById('settings').textContent);
const fetcher = createGraphiQLFetcher({
  url: settings.url,
  // Headers that one sets in GraphiQL replace these.
  headers: { authorization: `Bearer ${settings.token}` },
});
const tab = { query: settings.query };
render(
  h(GraphiQL, { fetcher, defaultTabs: [tab] }),
  document.getElementById('graphiql'),
);
