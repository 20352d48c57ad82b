-- The role of the managers. Its rights are given by: league db migrate --role league
CREATE ROLE league LOGIN PASSWORD 'league';
